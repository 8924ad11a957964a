"""The style of the HTML page: one column, readable on a phone and on paper."""

STYLE = """
:root{color-scheme:light;--ink:#1f2933;--faint:#52606d;--line:#e4e7eb;--paper:#fff;--back:#f5f7fa;--accent:#2f6f9f}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1000px;margin:0 auto;padding:24px 20px 56px}
header,section,.card{background:var(--paper);border:1px solid var(--line);border-radius:12px}
header{padding:26px 28px 16px;border-top:5px solid var(--accent)}
section{padding:18px 28px 22px;margin-top:18px}
h1{font-size:1.15rem;margin:0 0 2px;font-weight:600}
h2{font-size:1.1rem;margin:0 0 6px}
.big{font-size:clamp(2.6rem,9vw,4.2rem);line-height:1.1;font-weight:700;margin:0;letter-spacing:-.02em}
.big small{font-size:1.05rem;font-weight:400;line-height:1.4;color:var(--faint);letter-spacing:0;margin-left:.3em}
.big small{display:inline-block}
.none{font-size:2.2rem;font-weight:700;margin:0}
.lead{color:var(--faint);font-size:.9rem;margin:2px 0 10px;overflow-wrap:anywhere}
.badges{margin:14px 0 10px;display:flex;flex-wrap:wrap;gap:8px}
.badge{font-size:.8rem;font-weight:600;border-radius:99px;padding:2px 12px;white-space:nowrap}
.badge.good{background:#e3f4ec;color:#1d6b4c}.badge.bad{background:#fdecea;color:#a12622}
.badge.warn{background:#fdf3dc;color:#80580a}.badge.scope{background:#e4eff8;color:#235a84}
code{font:.86rem/1.45 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.command{margin:10px 0 4px;background:var(--back);border-radius:8px;padding:8px 12px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(195px,1fr));gap:12px;margin-top:18px}
.card{padding:12px 16px;display:flex;flex-direction:column}
.card b{font-weight:500;color:var(--faint);font-size:.82rem}
.card span{font-size:1.15rem;font-weight:600}
.card small{color:var(--faint);font-size:.78rem;line-height:1.35}
figure{margin:0}svg{display:block;width:100%;height:auto}.narrow{display:none}
.scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{text-align:left;color:var(--faint);font-weight:500;font-size:.8rem;border-bottom:1px solid var(--line);padding:4px 14px 6px 0}
td{border-bottom:1px solid var(--line);padding:6px 14px 6px 0;vertical-align:top}
tr:last-child td{border-bottom:0}
table.numbers td,table.numbers th{white-space:nowrap;font-variant-numeric:tabular-nums}
mark{background:#fff0c2;padding:1px 6px;border-radius:4px;font-weight:600}
.dot{display:inline-block;width:.7em;height:.7em;border-radius:3px;margin-right:.5em}
.missing{color:#a12622;font-weight:600}
ul{margin:0;padding-left:1.1em}li.fatal{color:#a12622;font-weight:600}li.note{color:var(--faint)}
@media(max-width:640px){
 main{padding:10px 10px 40px}header{padding:18px 16px 10px}section{padding:14px 16px 16px;margin-top:12px}
 .cards{grid-template-columns:1fr 1fr;gap:8px;margin-top:12px}.card{padding:10px 12px}.card span{font-size:1rem}
 .wide{display:none}.narrow{display:block}
}
@media print{body{background:#fff}header,section,.card{break-inside:avoid;border-color:#ccc}}
"""
