#!/usr/bin/env bash
# In short:  a battery that gives 200 W all the time is at -200, -400 and -600 W.
# Package:   hot-shots 17.1.1, a client of StatsD with 11 million downloads a month, and statsd 0.9.0, the server (npm).
# One would guess: gauge(name, -200) sets the gauge to -200, as gauge(name, 200) sets it to 200; for changes the client has gaugeDelta().
# What happens: it sends "-200|g", and a sign in front is the protocol's mark of a change: the server subtracts 200 each time, but for a gauge that is 0
#   or new, which it sets. So power that changes its direction is right while it is above 0 and falls without end while it is below. Nothing is
#   reported. Other clients send a 0 first.
# Why it matters: power at the border of a house, of batteries, and temperatures go below 0. Datadog's agent, which the client is made for as well, takes -200 as
#   -200, so the same code is right there. A test with one negative value passes, and so does the whole summer.
# Source:    statsd/docs/metric_types.md, "Gauges", its last sentences; hot-shots/lib/statsFunctions.js, gauge and gaugeDelta; statsd/stats.js.
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" && { npm init -y && npm install --no-audit --no-fund --ignore-scripts hot-shots@17.1.1 statsd@0.9.0; } > npm.log 2>&1 || { cat npm.log >&2; exit 2; }
cat > finding.js <<'NODE'
const { spawn } = require('child_process');
const dgram = require('dgram');
const fs = require('fs');
const net = require('net');
const StatsD = require('hot-shots');

const host = '127.0.0.1';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const freeUdp = () => new Promise((resolve) => {
  const socket = dgram.createSocket('udp4').bind(0, host, () => { const { port } = socket.address(); socket.close(() => resolve(port)); });
});
const freeTcp = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, host, () => { const { port } = server.address(); server.close(() => resolve(port)); });
});
const ask = (port, words) => new Promise((resolve) => { // the server's own interface for questions
  let answer = '';
  const socket = net.connect(port, host, () => socket.write(`${words}\n`));
  socket.on('data', (data) => { answer += data; if (/END/.test(answer)) socket.destroy(); });
  socket.on('error', () => {}).on('close', () => resolve(answer));
});

(async () => {
  const [port, questions] = [await freeUdp(), await freeTcp()];
  fs.writeFileSync('config.js', JSON.stringify({ port, address: host, mgmt_port: questions, mgmt_address: host, backends: [], flushInterval: 3600000 }));
  const server = spawn(process.execPath, ['node_modules/statsd/stats.js', 'config.js'], { stdio: ['ignore', 'ignore', 'inherit'] });
  process.on('SIGTERM', () => process.exit(1)).on('exit', () => server.kill());
  for (let i = 0; i < 300 && !(await ask(questions, 'counters')); i++) await pause(100);
  const client = new StatsD({ host, port });
  const sent = [300, 250, -200, -200, -200, 300, 0, -200, -200];
  const seen = [];
  for (const [i, power] of sent.entries()) {
    client.gauge('power', power);
    client.increment('sent');
    for (let k = 0; k < 300 && !(await ask(questions, 'counters')).includes(`sent: ${i + 1}`); k++) await pause(20);
    seen.push(Number(/power: (-?\d+)/.exec(await ask(questions, 'gauges'))?.[1]));
  }
  console.log('the power that the client was given:', sent.join(' '));
  console.log("the server's gauge after each:      ", seen.join(' '));
  process.exit(JSON.stringify(seen) === '[300,250,50,-150,-350,300,0,-200,-400]' ? 0 : 1);
})();
NODE
timeout 90 node finding.js
