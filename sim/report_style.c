/* SPDX-License-Identifier: ISC */
#include "report_style.h"

#include <stddef.h>

/*
 * Colours are text on ground of at least 4.5:1 in both schemes; none is the
 * only sign of anything.
 */
const char *const report_style[] = {
":root{color-scheme:light dark;--bg:#fff;--panel:#f5f6f8;--text:#1a1f26;"
"--soft:#566070;--rule:#d5dae1;--lane:#aab3be;--band:#fdeceb;--bandh:#e6f4ea;"
"--mark:#fff3c4;--edge:#b98900;--q:#0b57b0;--r:#0b57b0;--c:#6a3ab2;"
"--s:#6a3ab2;--u:#8a4600;--f:#b3201a;--h:#17683a;--n:#4a5564;"
"--hover:#0b57b014;--lw:440px}\n",
"@media(prefers-color-scheme:dark){:root{--bg:#14171c;--panel:#1d2128;"
"--text:#e7eaef;--soft:#a3adba;--rule:#343b46;--lane:#5b6573;--band:#3b1d1d;"
"--bandh:#173222;--mark:#3d3413;--edge:#e0b53c;--q:#7fb8ff;--r:#7fb8ff;"
"--c:#c9a8ff;--s:#c9a8ff;--u:#ffb66e;--f:#ff8f86;--h:#7cdb9c;--n:#b7c0cc;"
"--hover:#7fb8ff1f}}\n",
"*{box-sizing:border-box}"
"html{scroll-padding:90px 0 40px}"
"body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 "
"system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\","
"\"DejaVu Sans\",sans-serif;width:max-content;min-width:100%}\n",
"code,pre,.n,.t,.list,#pic text,kbd{font-family:ui-monospace,SFMono-Regular,"
"Menlo,Consolas,\"DejaVu Sans Mono\",monospace}"
"a{color:var(--q)}"
"a:focus-visible,select:focus-visible,button:focus-visible,"
"summary:focus-visible{outline:3px solid var(--q);outline-offset:1px}\n",
".page{position:sticky;left:0;width:100vw;max-width:1040px;padding:0 28px}"
"h1{font-size:27px;line-height:1.2;margin:2px 0 14px;letter-spacing:-.01em;"
"overflow-wrap:anywhere}"
"h2{font-size:18px;margin:38px 0 10px}"
".eyebrow{margin:30px 0 0;color:var(--soft);font-size:13px;"
"overflow-wrap:anywhere}\n",
".verdict{display:flex;gap:12px;align-items:baseline;margin:0 0 10px;"
"font-size:18px;font-weight:600}"
".tag{flex:none;border:2px solid;border-radius:5px;padding:0 9px;"
"font-size:14px;letter-spacing:.02em}"
".bad{color:var(--f)}.good{color:var(--h)}.open{color:var(--u)}"
".message{font-size:17px;margin:0 0 14px;overflow-wrap:anywhere}"
".conflict{list-style:none;margin:0 0 16px;padding:0;display:grid;gap:6px}"
".conflict a{display:flex;gap:12px;align-items:baseline;padding:6px 12px;"
"background:var(--mark);border-left:4px solid var(--edge);"
"color:var(--text);text-decoration:none;border-radius:0 5px 5px 0}"
".conflict a:hover{text-decoration:underline}"
".num{flex:none;display:inline-block;width:22px;height:22px;line-height:22px;"
"border-radius:50%;background:var(--text);color:var(--bg);text-align:center;"
"font-weight:700;font-size:13px}"
".conflict time{flex:none;color:var(--soft);min-width:5.5em}"
".rule{border-left:4px solid var(--rule);margin:0 0 8px;padding:2px 0 2px "
"14px;color:var(--soft)}.rule b{color:var(--text)}\n",
"details{margin:14px 0}summary{cursor:pointer;color:var(--soft)}"
".legend{display:grid;grid-template-columns:repeat(auto-fill,"
"minmax(290px,1fr));gap:4px 24px;margin:10px 0;padding:0;list-style:none;"
"font-size:14px}.legend li{display:flex;gap:10px;align-items:center}"
".legend svg{flex:none}\n",
"#tools{display:flex;flex-wrap:wrap;gap:8px 18px;align-items:center;"
"margin:14px 0 12px;font-size:14px}#tools[hidden]{display:none}"
"select,button{font:inherit;color:inherit;background:var(--panel);border:1px "
"solid var(--soft);border-radius:5px;padding:3px 8px;max-width:15em}"
"#say{color:var(--soft)}\n",
".fig{display:grid;grid-template-columns:var(--lw) max-content;"
"border-top:1px solid var(--rule);border-bottom:1px solid var(--rule)}"
".corner,.heads{position:sticky;top:0;background:var(--panel);"
"border-bottom:1px solid var(--rule);height:57px}"
".corner{left:0;z-index:4;display:flex;align-items:end;padding-bottom:8px;"
"font-size:12px;color:var(--soft);border-right:1px solid var(--rule)}"
".heads{z-index:3}.heads svg,#pic{display:block}"
".list{position:sticky;left:0;z-index:2;background:var(--bg);margin:0;"
"padding:14px 0 30px;list-style:none;width:var(--lw);font-size:12.5px;"
"border-right:1px solid var(--rule)}"
".list a,.corner{color:inherit}"
".list a{display:flex;align-items:center;height:24px;line-height:24px;"
"text-decoration:none;white-space:pre}"
".list a:hover{background:var(--hover)}"
".list a:focus-visible{outline-offset:-3px}"
".list .n{flex:none;width:50px;text-align:right;color:var(--soft)}"
".list .t{flex:none;width:76px;text-align:right}"
".list .w{overflow:hidden;text-overflow:ellipsis;padding-right:8px}"
".list a:hover .w{overflow:visible;background:var(--bg);"
"box-shadow:inset 0 0 0 99px var(--hover)}"
".list svg{flex:none;margin:0 8px 0 10px}"
".corner .n{width:50px;text-align:right}.corner .t{width:76px;"
"text-align:right}.corner .w{padding-left:34px}"
".list .gp{height:26px;line-height:26px;padding-left:50px;color:var(--soft);"
"font-style:italic;overflow:hidden;white-space:pre;text-overflow:ellipsis}"
".list .xf a{background:var(--band);font-weight:600}"
".list .xh a{background:var(--bandh)}"
".list .cf a{background:var(--mark);box-shadow:inset 4px 0 0 var(--edge);"
"font-weight:600}"
".list .sel a{box-shadow:inset 4px 0 0 var(--q);background:var(--hover)}"
".list .num{width:18px;height:18px;line-height:18px;font-size:11px;"
"margin-left:9px;margin-right:7px}\n",
"#pic text{font-size:11px;fill:var(--text);paint-order:stroke;"
"stroke:var(--bg);stroke-width:4px;stroke-linejoin:round}"
"#pic .bl{font-weight:700}.al{text-anchor:end}"
".ln,.ll,.cn text{text-anchor:middle}"
".ln{font-weight:700;font-size:14px;fill:var(--text)}"
".ll{font-size:11.5px;fill:var(--soft)}"
".lg{font-size:11.5px;fill:var(--soft);letter-spacing:.04em}"
".lr{stroke:var(--lane);fill:none}"
".lane{stroke:var(--lane);stroke-width:1.4;fill:none}"
".gap{stroke:var(--rule);stroke-dasharray:1 5;stroke-linecap:round;"
"stroke-width:2}"
".dead{fill:url(#hatch);stroke:var(--soft);stroke-dasharray:3 3;"
"stroke-width:.8}"
".paused{fill:url(#pause);stroke:var(--soft)}"
".hd{stroke:var(--soft);stroke-width:2}.hp{stroke:var(--soft);"
"stroke-width:1.4}"
".band rect{fill:var(--band);opacity:.86}.band path{stroke:var(--f);"
"stroke-width:1.3}"
".band.h rect{fill:var(--bandh)}.band.h path{stroke:var(--h);"
"stroke-dasharray:6 4}"
".try{fill:var(--bg);stroke:var(--q);stroke-width:1.6}"
".run{fill:var(--u);fill-opacity:.3;stroke:var(--u);stroke-width:1.4}"
".le path{stroke:var(--n);stroke-width:2.4;fill:none}"
".torn{stroke:var(--u);stroke-width:2;stroke-dasharray:2 3;fill:none}"
"path.open{stroke:var(--q);stroke-width:1.8;stroke-dasharray:5 4;fill:none}"
".q,.r,.c,.s,.u{fill:none;stroke-width:1.5}"
".q{stroke:var(--q);marker-end:url(#hq)}.r{stroke:var(--r);"
"marker-end:url(#hr)}.c{stroke:var(--c);marker-end:url(#hc)}"
".s{stroke:var(--s);marker-end:url(#hs)}.u{stroke:var(--u);"
"marker-end:url(#hu);stroke-dasharray:1 3;stroke-linecap:round;"
"stroke-width:2}.nh{marker-end:none}"
".fq,.fr{color:var(--q)}.fc,.fs{color:var(--c)}.fu{color:var(--u)}"
".ff{color:var(--f)}.fh{color:var(--h)}.fn{color:var(--n)}"
".s0{fill:currentColor}.s1{fill:currentColor;stroke:var(--bg);"
"stroke-width:1}.s2{fill:none;stroke:var(--bg);stroke-width:1.8}"
".s3{fill:var(--bg);stroke:currentColor;stroke-width:1.7}"
".s4{fill:none;stroke:currentColor;stroke-width:1.7}"
".s5{fill:none;stroke:currentColor;stroke-width:2.6}"
".s6{fill:none;stroke:currentColor;stroke-width:1.5}"
".dash{stroke-dasharray:2.6 2}.defs{position:absolute}\n",
"#pic [data-e]{cursor:pointer}.e>rect{fill:transparent}.e:hover>rect{"
"fill:var(--hover)}.cb{fill:var(--mark);"
"stroke:var(--edge)}.sel>rect{fill:var(--hover)}"
".ring{fill:none;stroke:var(--edge);stroke-width:2.4}"
".cn circle{fill:var(--text)}#pic .cn text{fill:var(--bg);stroke:none;"
"font-weight:700}"
".dim{opacity:.16}\n",
"table{border-collapse:collapse;font-size:14px;margin:0 0 6px}"
"th,td{text-align:left;vertical-align:top;padding:4px 22px 4px 0;"
"border-bottom:1px solid var(--rule);overflow-wrap:break-word}"
"th,td code{white-space:nowrap}"
"th{color:var(--soft);font-weight:600}td.r{text-align:right}"
".faults td{white-space:nowrap}.faults td:first-child{"
"white-space:normal}#table .cf{background:var(--mark);font-weight:600}"
"#table .xf{background:var(--band)}"
".asked td{overflow-wrap:anywhere}"
"#table{font-size:13px}#table td{white-space:nowrap}"
"#table td:last-child{white-space:normal;min-width:26em}"
"pre{background:var(--panel);padding:12px 14px;border-radius:6px;"
"white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}"
".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));"
"gap:0 44px}footer{color:var(--soft);font-size:13px;margin:36px 0}"
"@media(max-width:900px){:root{--lw:300px}.page{padding:0 16px}}"
"@media(max-width:640px){:root{--lw:128px}.list .w,.list .n,.corner .w,"
".corner .n{display:none}.list .t{width:64px}.corner .t{width:64px}"
".list .gp{padding-left:10px}.two{grid-template-columns:1fr}}"
"@media print{.corner,.heads,.list,.page{position:static}#tools{"
"display:none}}\n",
NULL
};

const char *const report_script[] = {
"var d=document,q=function(s){return[].slice.call(d.querySelectorAll(s))},"
"rows=q('.list li[data-e]'),"
"links=rows.map(function(r){return r.firstElementChild}),"
"parts=q('[data-e]').map(function(x){return{x:x,any:x.hasAttribute("
"'data-any'),e:x.getAttribute('data-e').split(' ').map(Number)}}),"
"say=d.getElementById('say'),pick={},chosen=-1;\n",
"function choices(id,name){var s=d.getElementById(id),seen={};"
"rows.forEach(function(r){var v=r.getAttribute(name);"
"if(v&&!seen['='+v]){seen['='+v]=1;s.add(new Option(v,v))}});"
"s.onchange=show;pick[name]=s}\n",
"function past(i){return parseInt(P[chosen].charAt(i>>2),16)>>(i&3)&1}\n",
"function fits(r,i){if(chosen>=0&&!past(i))return false;"
"for(var n in pick)if(pick[n].value&&r.getAttribute(n)!==pick[n].value)"
"return false;return true}\n",
"function show(){var on=rows.map(fits),is=function(i){return on[i]};"
"parts.forEach(function(p){var c=p.x.classList;"
"c.toggle('dim',!(p.any||chosen<0?p.e.some(is):p.e.every(is)));"
"c.toggle('sel',p.e.length===1&&p.e[0]===chosen)});"
"var n=on.filter(Boolean).length;"
"say.textContent=chosen>=0?n-1+' events that event '+"
"rows[chosen].getAttribute('data-i')+' can know of':n<rows.length?"
"n+' of '+rows.length+' events':'choose an event to see its causes'}\n",
"function choose(i){chosen=chosen===i?-1:i;show()}\n",
"function all(){chosen=-1;for(var n in pick)pick[n].value='';show()}\n",
"function go(i){links.forEach(function(l,j){l.tabIndex=i===j?0:-1})}\n",
"choices('by-key','data-k');choices('by-lane','data-l');"
"choices('by-kind','data-t');\n",
"links.forEach(function(l,i){l.onclick=function(v){v.preventDefault();"
"choose(i)};l.onfocus=function(){go(i)};l.onkeydown=function(v){"
"var j=v.key==='ArrowDown'?i+1:v.key==='ArrowUp'?i-1:-1;"
"if(links[j]){v.preventDefault();links[j].focus()}}});go(0);\n",
"d.getElementById('pic').onclick=function(v){"
"var g=v.target.closest('[data-e]');"
"if(g)choose(+g.getAttribute('data-e').split(' ').pop())};\n",
"d.getElementById('all').onclick=all;"
"d.addEventListener('keydown',function(v){if(v.key==='Escape')all()});"
"show();d.getElementById('tools').hidden=false;\n",
NULL
};

#define SHAPE(id, class, text) \
	"<li><svg width=\"22\" height=\"18\" viewBox=\"-11 -9 22 18\" " \
	"class=\"" class "\" aria-hidden=\"true\"><use href=\"#" id "\"/>" \
	"</svg>" text "</li>"
#define LINE(class, text) \
	"<li><svg width=\"44\" height=\"18\" aria-hidden=\"true\">" \
	"<path class=\"" class "\" d=\"M2 9H42\"/></svg>" text "</li>"
#define BROKEN(id, text) \
	"<li><svg width=\"44\" height=\"18\" class=\"fc\" " \
	"aria-hidden=\"true\">" \
	"<path class=\"c nh\" d=\"M2 9H18\"/><use href=\"#" id "\" x=\"26\" " \
	"y=\"9\"/></svg>" text "</li>"

const char *const report_legend[] = {
"<details><summary>How to read it</summary><p>Time runs down, one row an "
"event; where much of it went by without one, a gap says how much. A line is "
"who takes part: a client, one life of a gate, a server, a program.</p>"
"<ul class=\"legend\">"
LINE("q", "a request, from a client to a gate")
LINE("r", "its answer")
LINE("c", "a command, from a gate to a store")
LINE("s", "the store's reply")
LINE("u", "a program is started, or has ended"),
BROKEN("mx", "a message that was lost or cut off")
BROKEN("mh", "one that was held")
BROKEN("md", "one that was delayed")
BROKEN("ma", "answered with an error of ours")
SHAPE("mi", "fq", "a client sends")
SHAPE("mo", "fr", "a final answer")
SHAPE("mb", "fr", "busy: somebody has the key")
SHAPE("mf", "fr", "it did not run and never will")
SHAPE("mu", "fr", "an earlier run\xe2\x80\x99s end is unknown")
SHAPE("mn", "fr", "nobody can say: dashed to the lane\xe2\x80\x99s foot"),
SHAPE("ms", "fs", "what a store did")
SHAPE("mw", "fs", "what stands there in the end")
SHAPE("ml", "fn", "a labelled point")
SHAPE("me", "fu", "a program begins")
SHAPE("mc", "fu", "its effect is there")
SHAPE("mz", "fu", "it ends")
SHAPE("mt", "ff", "a fault, as a band over all lanes")
SHAPE("mg", "fh", "the end of one")
SHAPE("mp", "fh", "a process starts")
SHAPE("mk", "ff", "a process has ended")
SHAPE("my", "fn", "a line of a log, a note")
"<li><svg width=\"22\" height=\"24\" aria-hidden=\"true\" class=\"le\">"
"<path d=\"M15 2H8V22H15M4 12H12\"/></svg>a lease, with its key "
"and owner: claimed, renewed, over</li>"
SHAPE("mv", "ff", "a lease has expired")
"<li><svg width=\"44\" height=\"18\" aria-hidden=\"true\"><rect "
"class=\"dead\" x=\"1\" y=\"1\" width=\"42\" height=\"16\"/></svg>"
"a lane that is dead</li>"
"<li><svg width=\"44\" height=\"18\" aria-hidden=\"true\"><rect "
"class=\"paused\" x=\"1\" y=\"1\" width=\"42\" height=\"16\"/></svg>"
"one that is paused</li>"
"<li><span class=\"num\" aria-hidden=\"true\">1</span>an event of the "
"conflict</li>"
"</ul></details>\n",
NULL
};

/* Drawn around 0, 0; they take the colour of who uses them. */
const char report_shapes[] =
"<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"defs\"><defs>"
"<g id=\"mi\"><path class=\"s1\" d=\"M-4-5L5 0L-4 5Z\"/></g>"
"<g id=\"mo\"><circle class=\"s1\" r=\"6\"/>"
"<path class=\"s2\" d=\"M-3 0L-1 2.5L3-2.5\"/></g>"
"<g id=\"mf\"><circle class=\"s1\" r=\"6\"/>"
"<path class=\"s2\" d=\"M-2.4-2.4L2.4 2.4M2.4-2.4L-2.4 2.4\"/></g>"
"<g id=\"mb\"><circle class=\"s1\" r=\"6\"/>"
"<path class=\"s2\" d=\"M-1.6-2.6V2.6M1.6-2.6V2.6\"/></g>"
"<g id=\"mu\"><circle class=\"s3\" r=\"5.5\"/>"
"<path class=\"s4\" d=\"M-1.7-1.4Q-1.7-3 0-3T1.7-1.4Q1.7-.4 0 .4V1.1M0 2.4"
"V3.2\"/></g>"
"<g id=\"mn\"><circle class=\"s3 dash\" r=\"5.5\"/></g>"
"<g id=\"mm\"><circle class=\"s1\" r=\"3.2\"/></g>"
"<g id=\"ms\"><rect class=\"s1\" x=\"-4.5\" y=\"-4.5\" width=\"9\" "
"height=\"9\"/></g>"
"<g id=\"ml\"><path class=\"s3\" d=\"M0-4.5L4.5 0L0 4.5L-4.5 0Z\"/></g>"
"<g id=\"me\"><path class=\"s3\" d=\"M0-5.5L5.5 0L0 5.5L-5.5 0Z\"/>"
"<path class=\"s4\" d=\"M0-2V2\"/></g>"
"<g id=\"mc\"><path class=\"s1\" d=\"M0-7L7 0L0 7L-7 0Z\"/></g>"
"<g id=\"mz\"><path class=\"s3\" d=\"M-5-3H5M-5 3H5\"/></g>"
"<g id=\"mt\"><path class=\"s1\" d=\"M1.5-8L-5 1.5H-.5L-2 8L5-2H.5Z\"/></g>"
"<g id=\"mg\"><circle class=\"s3\" r=\"6\"/>"
"<path class=\"s4\" d=\"M0-3V3M-3 0H3\"/></g>"
"<g id=\"mp\"><circle class=\"s3\" r=\"5.5\"/><circle class=\"s1\" "
"r=\"2.2\"/></g>"
"<g id=\"mk\"><path class=\"s5\" d=\"M-5-5L5 5M5-5L-5 5\"/></g>"
"<g id=\"mx\"><path class=\"s5\" d=\"M-4.5-4.5L4.5 4.5M4.5-4.5L-4.5 4.5\"/>"
"</g>"
"<g id=\"mh\"><path class=\"s5\" d=\"M-3-5V5M3-5V5\"/></g>"
"<g id=\"md\"><circle class=\"s3\" r=\"5\"/><path class=\"s4\" "
"d=\"M0-2.6V0H2\"/></g>"
"<g id=\"ma\"><rect class=\"s3\" x=\"-4.5\" y=\"-4.5\" width=\"9\" "
"height=\"9\"/><path class=\"s4\" d=\"M0-2.4V.8M0 2V2.6\"/></g>"
"<g id=\"my\"><path class=\"s4\" d=\"M-5-2.5H5M-5 0H5M-5 2.5H2\"/></g>"
"<g id=\"mw\"><rect class=\"s3\" x=\"-4.5\" y=\"-4.5\" width=\"9\" "
"height=\"9\"/><rect class=\"s1\" x=\"-2\" y=\"-2\" width=\"4\" "
"height=\"4\"/></g>"
"<g id=\"mv\"><path class=\"s1\" d=\"M-5-6.5H5L-5 6.5H5Z\"/></g>"
"<pattern id=\"hatch\" width=\"7\" height=\"7\" "
"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
"<path class=\"hd\" d=\"M0 0V7\"/></pattern>"
"<pattern id=\"pause\" width=\"7\" height=\"7\" "
"patternUnits=\"userSpaceOnUse\"><path class=\"hp\" d=\"M0 2H7\"/></pattern>"
"<marker id=\"hq\" class=\"fq\" viewBox=\"0 0 9 8\" refX=\"8.5\" refY=\"4\" "
"markerWidth=\"9\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
"orient=\"auto\"><path class=\"s0\" d=\"M0 0L9 4L0 8Z\"/></marker>"
"<marker id=\"hc\" class=\"fc\" viewBox=\"0 0 9 8\" refX=\"8.5\" refY=\"4\" "
"markerWidth=\"9\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
"orient=\"auto\"><path class=\"s0\" d=\"M0 0L9 4L0 8Z\"/></marker>"
"<marker id=\"hu\" class=\"fu\" viewBox=\"0 0 9 8\" refX=\"8.5\" refY=\"4\" "
"markerWidth=\"9\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
"orient=\"auto\"><path class=\"s0\" d=\"M0 0L9 4L0 8Z\"/></marker>"
"<marker id=\"hr\" class=\"fr\" viewBox=\"0 0 9 8\" refX=\"8.5\" refY=\"4\" "
"markerWidth=\"9\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
"orient=\"auto\"><path class=\"s6\" d=\"M1 1L8 4L1 7\"/></marker>"
"<marker id=\"hs\" class=\"fs\" viewBox=\"0 0 9 8\" refX=\"8.5\" refY=\"4\" "
"markerWidth=\"9\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
"orient=\"auto\"><path class=\"s6\" d=\"M1 1L8 4L1 7\"/></marker>"
"</defs></svg>\n";
