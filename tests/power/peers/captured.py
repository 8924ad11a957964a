"""Real devices answered this, as people recorded it; each with its source, model and firmware. Only facts of the protocols: keys
that no meter looks at are left out, serial numbers and names of networks are not there.
"""

from __future__ import annotations

from typing import Any

# Shelly Plug US (SHPLG-U1), Gen1: geerlingguy/shelly-plug-prometheus, README, April 2021; the firmware is not known.
GEN1_PLUG_METER = {
    "power": 85.05,
    "overpower": 0.00,
    "is_valid": True,
    "timestamp": 1618501251,
    "counters": [90.138, 26.141, 0.000],
    "total": 116,
}
# Shelly 1PM (SHSW-PM), Gen1, firmware 20200827-070450/v1.8.3@4a8bc427: michaderbastler/pv, powerRepositoryRest_test.go.
GEN1_1PM_STATUS = {
    "time": "14:36",
    "unixtime": 1600439798,
    "relays": [{"ison": True, "has_timer": False, "overpower": False, "source": "http"}],
    "meters": [
        {
            "power": 4.55,
            "overpower": 0.00,
            "is_valid": True,
            "timestamp": 1600439798,
            "counters": [4.764, 4.757, 4.746],
            "total": 102,
        }
    ],
    "temperature": 43.41,
    "update": {"status": "idle", "has_update": False, "old_version": "20200827-070450/v1.8.3@4a8bc427"},
}
GEN1_1PM_ABOUT = {"type": "SHSW-PM", "auth": False, "fw": "20200827-070450/v1.8.3@4a8bc427", "num_meters": 1}

# Shelly EM (SHEM), Gen1, firmware 20221027-105518/v1.12.1-ga9117d3, one clamp at a roof that feeds in: evcc-io/evcc, tests of
# meter/shelly. Shelly 3EM, Gen1, firmware 20230913-114244/v1.14.0-gcb84623: a status of February 2024, kept as a comment in the
# powermeter.h of a regulator of solar power.
GEN1_EM_ABOUT = {"type": "SHEM", "auth": False, "fw": "20221027-105518/v1.12.1-ga9117d3", "num_meters": 2, "num_emeters": 2}
GEN1_EM_METERS = [
    {
        "power": -620.34,
        "reactive": 714.48,
        "pf": -0.66,
        "voltage": 235.68,
        "is_valid": True,
        "total": 401472.9,
        "total_returned": 653673.7,
    },
    {"power": 0.0, "reactive": 0.0, "pf": 0.0, "voltage": 235.68, "is_valid": True, "total": 173411.3, "total_returned": 294.2},
]
GEN1_3EM_METERS = [
    {
        "power": 51.08,
        "pf": 0.27,
        "current": 0.78,
        "voltage": 234.90,
        "is_valid": True,
        "total": 1686297.2,
        "total_returned": 428958.4,
    },
    {"power": 155.02, "pf": 0.98, "current": 0.66, "voltage": 235.57, "is_valid": True, "total": 878905.6, "total_returned": 4.1},
    {"power": 6.75, "pf": 0.26, "current": 0.11, "voltage": 234.70, "is_valid": True, "total": 206151.1, "total_returned": 0.0},
]

# Shelly Plus 1PM, Switch.GetStatus; Shelly Pro EM, EM1.GetStatus: evcc-io/evcc, meter/shelly, tests of the Gen2 responses, 2023;
# the firmware is not known (that of the Pro 3EM below is).
GEN2_SWITCH = {
    "id": 0,
    "source": "HTTP",
    "output": False,
    "apower": 47.11,
    "voltage": 232.0,
    "current": 0.000,
    "pf": 0.00,
    "aenergy": {"total": 5.125, "by_minute": [0.000, 0.000, 0.000], "minute_ts": 1675718520},
    "temperature": {"tC": 25.3, "tF": 77.5},
}
PRO_EM1 = {"id": "0", "current": 1.473, "voltage": 226.9, "act_power": -332.2, "aprt_power": 335, "pf": 0.99, "freq": 50}

# Shelly Pro 3EM (SPEM-003CEBEU), firmware 20250508-110717/1.6.1-g8dbd358: home-assistant/core, tests/components/shelly/fixtures.
PRO_3EM_ABOUT = {
    "app": "Pro3EM",
    "auth_en": True,
    "fw_id": "20250508-110717/1.6.1-g8dbd358",
    "gen": 2,
    "model": "SPEM-003CEBEU",
    "profile": "triphase",
    "ver": "1.6.1",
}
PRO_3EM = {
    "a_act_power": 2166.2,
    "a_aprt_power": 2175.9,
    "a_current": 9.592,
    "a_pf": 0.99,
    "b_act_power": 3.6,
    "b_aprt_power": 10.1,
    "b_current": 0.044,
    "b_pf": 0.36,
    "c_act_power": 244.0,
    "c_aprt_power": 339.7,
    "c_current": 1.479,
    "c_pf": 0.72,
    "id": 0,
    "n_current": None,
    "total_act_power": 2413.825,
    "total_aprt_power": 2525.779,
    "total_current": 11.116,
}

# Tasmota, Status 8 of a Sonoff Pow: evcc-io/evcc, charger/tasmota.go (November 2018). Sensor message with a power factor far from
# 1: a Rust client's test (January 2025), 1 W of real power in 4 VA. Their firmware is not known.
TASMOTA_POW = {
    "StatusSNS": {
        "Time": "2018-11-15T08:54:18",
        "ENERGY": {
            "TotalStartTime": "2018-11-14T18:39:40",
            "Total": 6.404,
            "Yesterday": 5.340,
            "Today": 1.064,
            "Power": 2629,
            "ApparentPower": 2645,
            "ReactivePower": 288,
            "Factor": 0.99,
            "Voltage": 226,
            "Current": 11.677,
        },
    }
}
TASMOTA_SENSOR = {
    "Time": "2025-01-11T23:10:38",
    "ENERGY": {
        "TotalStartTime": "2022-11-28T13:42:21",
        "Total": 6.096,
        "Yesterday": 0.040,
        "Today": 0.030,
        "Period": 0,
        "Power": 1,
        "ApparentPower": 4,
        "ReactivePower": 4,
        "Factor": 0.25,
        "Voltage": 230,
        "Current": 0.019,
    },
}

# Tasmota 6.4.1.18 (core 2.4.2) on a Wemos D1 mini with a PZEM004T, sensor message: tracker of arendst/Tasmota, thread 5373,
# March 2019.
TASMOTA_PZEM = {
    "Time": "2019-03-01T12:48:40",
    "ENERGY": {
        "TotalStartTime": "2019-02-26T10:14:20",
        "Total": 13.797,
        "Yesterday": 4.916,
        "Today": 8.881,
        "Period": 6,
        "Power": 2109,
        "ApparentPower": 2960,
        "ReactivePower": 2077,
        "Factor": 0.71,
        "Voltage": 227,
        "Current": 13.070,
    },
}

# Redfish: DMTF/Redfish-Mockup-Server, public-rackmount1, the resources that a meter walks through.
_CHASSIS = "/redfish/v1/Chassis/1U"
REDFISH_RACKMOUNT: dict[str, Any] = {
    "/redfish/v1": {
        "@odata.type": "#ServiceRoot.v1_13_0.ServiceRoot",
        "RedfishVersion": "1.15.0",
        "UUID": "92384634-2938-2342-8820-489239905423",
        "Vendor": "Contoso",
        "Chassis": {"@odata.id": "/redfish/v1/Chassis"},
    },
    "/redfish/v1/Chassis": {
        "@odata.type": "#ChassisCollection.ChassisCollection",
        "Members@odata.count": 1,
        "Members": [{"@odata.id": _CHASSIS}],
    },
    _CHASSIS: {
        "@odata.type": "#Chassis.v1_22_0.Chassis",
        "Id": "1U",
        "PowerSubsystem": {"@odata.id": f"{_CHASSIS}/PowerSubsystem"},
        "EnvironmentMetrics": {"@odata.id": f"{_CHASSIS}/EnvironmentMetrics"},
        "Power@Redfish.Deprecated": "Please migrate to use /redfish/v1/Chassis/1U/PowerSubsystem",
        "Power": {"@odata.id": f"{_CHASSIS}/Power"},
    },
    f"{_CHASSIS}/EnvironmentMetrics": {
        "@odata.type": "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
        "PowerWatts": {"Reading": 374, "DataSourceUri": "/redfish/v1/Chassis/1U/Sensors/TotalPower"},
        "PowerLimitWatts": {"SetPoint": 500, "AllowableMax": 1000, "AllowableMin": 150, "ControlMode": "Automatic"},
    },
}

# AVM FRITZ!Box: login_sid.lua?version=2 before the login (hthiery/python-fritzhome, tests/responses, from a box with PBKDF2).
FRITZ_CHALLENGE = "2$10000$a64b986b521fcbc44d7a9f0adad34b14$1000$b9c232dea345233f5a893b2284931ac8"
# Statistics of a FRITZ!DECT 200, every 10 s, the newest first: wolpl/FritzAhaClient, TestFritzboxConnector.kt, September 2018 or
# before; the firmware is not known. The newest 48 values, each twelve times, and some older ones, while the box asked every 10 s.
FRITZ_STATS = '<devicestats><power><stats count="360" grid="10">{}</stats></power></devicestats>'
FRITZ_SLOW = ",".join([",".join([value] * 12) for value in ("1067", "1066", "1082", "1086")])
FRITZ_QUICK = "1097,1096,1093,1095,1096,1099,1100,1100,1098,1100,1102"
FRITZ_SESSION = (
    '<?xml version="1.0" encoding="utf-8"?><SessionInfo><SID>{sid}</SID><Challenge>{challenge}</Challenge>'
    "<BlockTime>{block}</BlockTime><Rights></Rights></SessionInfo>"
)

# Raspberry Pi 5 Model B Rev 1.0, Raspberry Pi OS bookworm, four busy cores: ml-energy/zeus, tests of its Raspberry Pi backend.
PMIC_RAILS = """\
 3V7_WL_SW_A current(0)=0.09368929A
   3V3_SYS_A current(1)=0.08783370A
   1V8_SYS_A current(2)=0.18054710A
  DDR_VDD2_A current(3)=0.22543980A
  DDR_VDDQ_A current(4)=0.06666720A
   1V1_SYS_A current(5)=0.17566740A
    0V8_SW_A current(6)=0.37670900A
  VDD_CORE_A current(7)=6.22421000A
   3V3_DAC_A current(17)=0.00006105A
   3V3_ADC_A current(18)=0.00036630A
   0V8_AON_A current(16)=0.00305250A
      HDMI_A current(22)=0.02417580A
 3V7_WL_SW_V volt(8)=3.69977600V
   3V3_SYS_V volt(9)=3.31003300V
   1V8_SYS_V volt(10)=1.80512600V
  DDR_VDD2_V volt(11)=1.10476100V
  DDR_VDDQ_V volt(12)=0.60146460V
   1V1_SYS_V volt(13)=1.11025500V
    0V8_SW_V volt(14)=0.80146440V
  VDD_CORE_V volt(15)=0.86173300V
   3V3_DAC_V volt(20)=3.31318300V
   3V3_ADC_V volt(21)=3.30677300V
   0V8_AON_V volt(19)=0.80029220V
      HDMI_V volt(23)=5.08664000V
     EXT5V_V volt(24)=5.09066000V
      BATT_V volt(25)=0.00000000V
"""

# NUT: networkupstools/nut-ddl, Eaton 5PX 2000 (firmware 06, usbhid-ups 2.7.4) with real power, and APC Back-UPS ES 650G2
# (firmware 937.a2, usbhid-ups 2.8.1) with a load in percent only.
UPS_EATON_5PX = """\
device.mfr: EATON
device.model: Eaton 5PX 2000
device.type: ups
outlet.1.power: 282
outlet.1.realpower: 162
outlet.2.realpower: 68
outlet.realpower: 274
output.powerfactor: 0.82
ups.efficiency: 95
ups.firmware: 06
ups.load: 30
ups.power: 611
ups.power.nominal: 2000
ups.realpower: 504
ups.realpower.nominal: 1800
ups.status: OL CHRG
"""
UPS_APC_ES = """\
device.mfr: American Power Conversion
device.model: Back-UPS ES 650G2
device.type: ups
ups.firmware: 937.a2 .I
ups.load: 15
ups.realpower.nominal: 400
ups.status: OL
"""

# TP-Link HS110(EU) 1.0, firmware 1.2.5 Build 171213 Rel.101523: python-kasa/python-kasa, tests/fixtures/iot.
KASA_HS110: dict[str, Any] = {
    "emeter": {"get_realtime": {"current": 0.014937, "err_code": 0, "power": 0.928511, "total": 55.139, "voltage": 231.067823}},
    "system": {
        "get_sysinfo": {
            "active_mode": "schedule",
            "alias": "plug",
            "dev_name": "Wi-Fi Smart Plug With Energy Monitoring",
            "deviceId": "0000000000000000000000000000000000000000",
            "err_code": 0,
            "feature": "TIM:ENE",
            "fwId": "00000000000000000000000000000000",
            "hwId": "00000000000000000000000000000000",
            "hw_ver": "1.0",
            "icon_hash": "",
            "latitude": 0,
            "led_off": 1,
            "longitude": 0,
            "mac": "50:C7:BF:00:00:00",
            "model": "HS110(EU)",
            "oemId": "00000000000000000000000000000000",
            "on_time": 6023162,
            "relay_state": 1,
            "rssi": -71,
            "sw_ver": "1.2.5 Build 171213 Rel.101523",
            "type": "IOT.SMARTPLUGSWITCH",
            "updating": 0,
        }
    },
}

# TP-Link KP125M(US) 1.0, firmware 1.2.3 Build 240624 Rel.154806, which speaks as Tapo plugs do (is_klap in its answers):
# python-kasa/python-kasa, tests/fixtures/smart.
_KP125M_COMPONENTS = {
    "device": 2, "firmware": 2, "quick_setup": 3, "time": 1, "wireless": 1, "schedule": 2, "countdown": 2, "antitheft": 1,
    "account": 1, "synchronize": 1, "sunrise_sunset": 1, "led": 1, "cloud_connect": 1, "iot_cloud": 1, "device_local_time": 1,
    "default_states": 1, "auto_off": 2, "energy_monitoring": 2, "power_protection": 1, "matter": 2, "current_protection": 1,
}  # fmt: skip
KASA_KP125M: dict[str, Any] = {
    "component_nego": {"component_list": [{"id": name, "ver_code": version} for name, version in _KP125M_COMPONENTS.items()]},
    "get_auto_off_config": {"delay_min": 120, "enable": False},
    "get_auto_update_info": {"enable": True, "random_range": 120, "time": 180},
    "get_connect_cloud_state": {"status": 0},
    "get_current_power": {"current_power": 1},
    "get_device_info": {
        "auto_off_remain_time": 0,
        "auto_off_status": "off",
        "avatar": "egg_boiler",
        "default_states": {"state": {}, "type": "last_states"},
        "device_id": "0000000000000000000000000000000000000000",
        "device_on": True,
        "fw_id": "00000000000000000000000000000000",
        "fw_ver": "1.2.3 Build 240624 Rel.154806",
        "has_set_location_info": True,
        "hw_id": "00000000000000000000000000000000",
        "hw_ver": "1.0",
        "ip": "127.0.0.123",
        "lang": "en_US",
        "latitude": 0,
        "longitude": 0,
        "mac": "78-8C-B5-00-00-00",
        "model": "KP125M",
        "nickname": "I01BU0tFRF9OQU1FIw==",
        "oem_id": "00000000000000000000000000000000",
        "on_time": 936394,
        "overcurrent_status": "normal",
        "overheat_status": "normal",
        "power_protection_status": "normal",
        "region": "America/Denver",
        "rssi": -50,
        "signal_level": 2,
        "specs": "",
        "ssid": "I01BU0tFRF9TU0lEIw==",
        "time_diff": -420,
        "type": "SMART.KASAPLUG",
    },
    "get_device_time": {"region": "America/Denver", "time_diff": -420, "timestamp": 1732069933},
    "get_emeter_data": {"current_ma": 33, "energy_wh": 971, "power_mw": 1003, "voltage_mv": 121215},
    "get_emeter_vgain_igain": {"igain": 10861, "vgain": 118657},
    "get_energy_usage": {
        "current_power": 1003,
        "electricity_charge": [0, 0, 0],
        "local_time": "2024-11-19 19:32:14",
        "month_energy": 971,
        "month_runtime": 15867,
        "today_energy": 20,
        "today_runtime": 1172,
    },
    "get_fw_download_state": {"auto_upgrade": False, "download_progress": 0, "reboot_time": 5, "status": 0, "upgrade_time": 5},
    "get_led_info": {
        "led_rule": "always",
        "led_status": True,
        "night_mode": {"end_time": 420, "night_mode_type": "custom", "start_time": 1320},
    },
    "get_matter_setup_info": {"setup_code": "00000000000", "setup_payload": "00:000000000000-000000"},
    "get_max_power": {"max_power": 1542},
    "get_next_event": {},
    "get_protection_power": {"enabled": False, "protection_power": 0},
}

# TP-Link Tapo P110M(EU) 1.0, firmware 1.2.3 Build 240617 Rel.153525, switched off, KLAP: python-kasa/python-kasa,
# tests/fixtures/smart.
_P110M_COMPONENTS = {
    "device": 2, "firmware": 2, "quick_setup": 3, "time": 1, "wireless": 1, "schedule": 2, "countdown": 2, "antitheft": 1,
    "account": 1, "synchronize": 1, "sunrise_sunset": 1, "led": 1, "cloud_connect": 1, "iot_cloud": 1, "device_local_time": 1,
    "default_states": 1, "auto_off": 2, "localSmart": 1, "energy_monitoring": 2, "power_protection": 1,
    "charging_protection": 2, "matter": 2, "current_protection": 1,
}  # fmt: skip
TAPO_P110M: dict[str, Any] = {
    "component_nego": {"component_list": [{"id": name, "ver_code": version} for name, version in _P110M_COMPONENTS.items()]},
    "get_auto_off_config": {"delay_min": 120, "enable": False},
    "get_auto_update_info": {"enable": False, "random_range": 120, "time": 180},
    "get_connect_cloud_state": {"status": 1},
    "get_current_power": {"current_power": 0},
    "get_device_info": {
        "auto_off_remain_time": 0,
        "auto_off_status": "off",
        "avatar": "",
        "charging_status": "normal",
        "default_states": {"state": {}, "type": "last_states"},
        "device_id": "0000000000000000000000000000000000000000",
        "device_on": False,
        "fw_id": "00000000000000000000000000000000",
        "fw_ver": "1.2.3 Build 240617 Rel.153525",
        "has_set_location_info": False,
        "hw_id": "00000000000000000000000000000000",
        "hw_ver": "1.0",
        "ip": "127.0.0.123",
        "lang": "",
        "latitude": 0,
        "longitude": 0,
        "mac": "F0-A7-31-00-00-00",
        "model": "P110M",
        "nickname": "I01BU0tFRF9OQU1FIw==",
        "oem_id": "00000000000000000000000000000000",
        "on_time": 0,
        "overcurrent_status": "normal",
        "overheat_status": "normal",
        "power_protection_status": "normal",
        "region": "CET",
        "rssi": -33,
        "signal_level": 3,
        "specs": "",
        "ssid": "I01BU0tFRF9TU0lEIw==",
        "time_diff": 60,
        "type": "SMART.TAPOPLUG",
    },
    "get_device_time": {"region": "CET", "time_diff": 60, "timestamp": 1732361090},
    "get_emeter_data": {"current_ma": 0, "energy_wh": 1469, "power_mw": 0, "voltage_mv": 233509},
    "get_emeter_vgain_igain": {"igain": 11299, "vgain": 124300},
    "get_energy_usage": {
        "current_power": 0,
        "electricity_charge": [0, 0, 0],
        "local_time": "2024-11-23 12:24:51",
        "month_energy": 6266,
        "month_runtime": 12705,
        "today_energy": 0,
        "today_runtime": 0,
    },
    "get_fw_download_state": {"auto_upgrade": False, "download_progress": 0, "reboot_time": 5, "status": 0, "upgrade_time": 5},
    "get_led_info": {
        "led_rule": "always",
        "led_status": False,
        "night_mode": {
            "end_time": 420,
            "night_mode_type": "sunrise_sunset",
            "start_time": 1140,
            "sunrise_offset": 0,
            "sunset_offset": 0,
        },
    },
    "get_matter_setup_info": {"setup_code": "00000000000", "setup_payload": "00:000000-000000000000"},
    "get_max_power": {"max_power": 3896},
    "get_next_event": {},
    "get_protection_power": {"enabled": False, "protection_power": 0},
}

# The three rails of an NVIDIA Jetson AGX Thor Developer Kit, L4T R38.4.0, with little load: swsususu/ThorFAN, notes of its
# development, September 2026. Label, millivolts, milliamperes. All of them are whole counts of an INA3221: 8 mV, and 40 or 20 mA.
INA3221_THOR = (("VDD_GPU", 12040, 640), ("VDD_CPU_SOC_MSS", 12040, 960), ("VIN_SYS_5V0", 5088, 1740))

# Zigbee2MQTT, a Shelly with two sockets over Zigbee, at a 3D printer: maziggy/bambuddy, report 173, January 2026; the firmware is
# not told.
ZIGBEE2MQTT_SHELLY = {
    "ac_frequency_l1": 49.94,
    "ac_frequency_l2": 49.98,
    "current_l1": 0.125,
    "current_l2": 0,
    "device": {"friendlyName": "shelly-working-room", "manufacturerName": "Shelly", "powerSource": "Mains (single phase)"},
    "energy_l1": 2.056,
    "energy_l2": 0.006,
    "linkquality": 87,
    "power_apparent_l1": 9,
    "power_apparent_l2": 0,
    "power_factor_l1": 0,
    "power_factor_l2": 0,
    "power_l1": 8,
    "power_l2": 0,
    "power_reactive_l1": 0,
    "power_reactive_l2": 0,
    "produced_energy_l1": 0,
    "produced_energy_l2": 0,
    "state_l1": "ON",
    "state_l2": "OFF",
    "voltage_l1": 228.08,
}

# Home Assistant, the state of a plug's power sensor (TP-Link, at a dehumidifier), May 2024: a test of a client of its API.
HOME_ASSISTANT_STATE = {
    "entity_id": "sensor.bedroom_dehumidifier_current_consumption",
    "state": "179.7",
    "attributes": {
        "state_class": "measurement",
        "unit_of_measurement": "W",
        "device_class": "power",
        "friendly_name": "Bedroom dehumidifier Current Consumption",
    },
    "last_changed": "2024-05-15T14:20:42.447228+00:00",
    "last_updated": "2024-05-15T14:20:42.447228+00:00",
}
