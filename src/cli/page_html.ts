// deno-fmt-ignore-file
// Written by `deno task page` from the folder page; not edited by hand.

/** The page of `informer serve`. It is static: all that it shows comes from the relay that serves it. */
export const PAGE_HTML: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>informer</title>
<link rel="icon" href="data:,">
<style>:root {
  color-scheme: light dark;
  --text: light-dark(#1a1c1f, #e6e7e9);
  --muted: light-dark(#55595f, #a6abb2);
  --back: light-dark(#ffffff, #15171a);
  --head: light-dark(#f1f3f5, #1f2226);
  --line: light-dark(#d5d9de, #34383e);
  --accent: light-dark(#0b57c9, #7db2ff);
  --active: light-dark(#dcebff, #1d3354);
  --good: light-dark(#106b2e, #6fdc8c);
  --bad: light-dark(#a3261b, #ff9d93);
  font: 14px/1.4 system-ui, sans-serif;
}
* {
  box-sizing: border-box;
}
[hidden] {
  display: none !important;
}
body {
  margin: 0;
  height: 100vh;
  display: flex;
  flex-direction: column;
  color: var(--text);
  background: var(--back);
}
header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 6px 18px;
  padding: 8px 12px;
  background: var(--head);
  border-bottom: 1px solid var(--line);
}
h1 {
  margin: 0;
  font-size: 16px;
}
header p {
  margin: 0;
  white-space: nowrap;
}
#count {
  color: var(--muted);
}
#state {
  padding: 1px 8px;
  border: 1px solid currentColor;
  border-radius: 9px;
  color: var(--bad);
}
#state.live {
  color: var(--good);
}
#rate {
  display: flex;
  align-items: center;
  gap: 6px;
  margin-left: auto;
  color: var(--muted);
  font-variant-numeric: tabular-nums;
}
#plot path {
  fill: none;
  stroke: var(--accent);
  stroke-width: 1.5;
}
select,
input,
button {
  font: inherit;
  color: inherit;
  background: var(--back);
  border: 1px solid var(--muted);
  border-radius: 4px;
  padding: 3px 8px;
}
#filter {
  width: 22ch;
}
#namespace {
  max-width: 24ch;
}
:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: -2px;
}
main {
  flex: 1;
  min-height: 0;
  display: flex;
}
#scroller {
  flex: 1;
  min-width: 0;
  overflow: auto;
  overflow-anchor: none;
  container-type: inline-size;
}
#scroller.cut {
  box-shadow: inset -14px 0 12px -10px var(--muted);
}
table {
  border-collapse: separate;
  border-spacing: 0;
  min-width: 100%;
}
th,
#rows td {
  text-align: left;
  padding: 0 12px;
  height: 28px;
  white-space: nowrap;
  max-width: min(60ch, 40cqi);
  overflow: hidden;
  text-overflow: ellipsis;
  border-bottom: 1px solid var(--line);
}
thead th {
  position: sticky;
  top: 0;
  background: var(--head);
  z-index: 1;
  padding: 0;
}
th button {
  width: 100%;
  height: 27px;
  border: 0;
  border-radius: 0;
  padding: 0 12px;
  background: none;
  font-weight: 600;
  text-align: left;
  cursor: pointer;
}
th[aria-sort=ascending] button::after {
  content: " ▲";
}
th[aria-sort=descending] button::after {
  content: " ▼";
}
@container (max-width: 800px) {
  #rows td,
  th button {
    padding: 0 8px;
  }
}
#before,
#after {
  padding: 0;
  height: 0;
}
#rows tr {
  cursor: pointer;
}
#rows tr[aria-selected=true] {
  background: var(--active);
}
[aria-busy=true] #rows {
  opacity: 0.5;
}
#empty,
#problem {
  padding: 12px;
  color: var(--muted);
}
#problem {
  color: var(--bad);
}
aside {
  width: min(46rem, 40%);
  display: grid;
  grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) auto;
  gap: 8px;
  padding: 10px 12px;
  border-left: 1px solid var(--line);
}
aside h2 {
  margin: 0;
  font-size: 15px;
  overflow-wrap: anywhere;
}
aside button {
  align-self: start;
}
aside pre {
  grid-column: 1 / -1;
  margin: 0;
  padding: 6px 8px;
  overflow: auto;
  font: 13px/1.45 ui-monospace, monospace;
}
footer {
  padding: 3px 12px;
  color: var(--muted);
  background: var(--head);
  border-top: 1px solid var(--line);
}
footer p {
  margin: 0;
  font-size: 12px;
}
@media (max-width: 700px) {
  aside {
    position: absolute;
    inset: 0;
    width: 100%;
    background: var(--back);
    z-index: 2;
  }
}</style>
</head>
<body>
<header>
<h1>informer</h1>
<label id="clusters" hidden>Cluster <select id="cluster"></select></label>
<label>Collection <select id="collection"></select></label>
<label id="namespaces" hidden>Namespace <select id="namespace"></select></label>
<label>Filter <input id="filter" type="search" placeholder="words, in any order" autocomplete="off" spellcheck="false" maxlength="200" aria-keyshortcuts="/"></label>
<p id="count"></p>
<p id="state" role="status">connecting</p>
<p
id="rate"><svg id="plot" viewBox="0 0 120 24" width="120" height="24" aria-hidden="true"><path d=""></path></svg> <span id="per_second">0 events/s</span></p>
</header>
<main>
<div id="scroller" tabindex="-1">
<table role="grid" aria-label="Objects" aria-describedby="keys">
<thead>
<tr id="heads" aria-rowindex="1"></tr>
</thead>
<tbody aria-hidden="true">
<tr>
<td id="before"></td>
</tr>
</tbody>
<tbody id="rows"></tbody>
<tbody aria-hidden="true">
<tr>
<td id="after"></td>
</tr>
</tbody>
</table>
<p id="empty" hidden>No object matches.</p>
<p id="problem" role="alert" hidden></p>
</div>
<aside id="details" aria-labelledby="title" hidden>
<h2 id="title"></h2>
<button id="close" type="button" aria-keyshortcuts="Escape">Close</button>
<pre id="yaml" role="region" tabindex="0" aria-label="The object as YAML"></pre>
</aside>
</main>
<footer>
<p id="keys">Keys: / filter, ↑ ↓ Page Up Page Down Home End rows, Enter details, Escape back</p>
</footer>
<script type="module">var m=class{#t=new AbortController;#e;#n=()=>this.abort(this.#i?.reason);constructor(...t){if(this.#e=t,this.#i!==void 0)this.#n();else for(let e of t)e?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#i(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};function wt(n){let t;return()=>t??=new DOMException(n,"AbortError")}var E=class{#t;#e=new Set;get isOpen(){return this.#t?.length===0}open(){this.#n([])}fail(t){this.#n([t])}notify(...t){if(this.#e.size===0)return;let e=[...this.#e];this.#e.clear();for(let s of e)s(t)}wait(t={}){let{signal:e}=t;return this.#t!==void 0?this.#t.length>0?Promise.reject(this.#t[0]):Promise.resolve():e?.aborted?Promise.reject(e.reason):new Promise((s,i)=>{let r=a=>{e?.removeEventListener("abort",o),a.length>0?i(a[0]):s()},o=()=>{this.#e.delete(r),i(e.reason)};e?.addEventListener("abort",o,{once:!0}),this.#e.add(r)})}#n(t){this.#t===void 0&&(this.#t=t,this.notify(...t))}};function ee(n){typeof globalThis.reportError=="function"?globalThis.reportError(n):queueMicrotask(()=>{throw n})}function Z(n){try{n()}catch(t){ee(t)}}var I=class{#t;#e;#n="new";#i;#a;#o=Promise.resolve();constructor(t,e){this.#t=t===void 0?[]:[t],this.#e=e}begin(){}finish(){}wait(){return new Promise(t=>this.#a=t)}endWith(t){this.#t.push(t)}wake(){this.#a?.()}end(t){if(this.#n!=="over"){this.#n="over",this.#i=t;for(let e of this.#t)e.removeEventListener("abort",this.#r);this.#e?.delete(this),this.finish(),this.wake()}}next(){let t=this.#o.then(this.#s);return this.#o=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#r=()=>this.end();#s=async()=>{for(this.#n==="new"&&this.#c();this.#h;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#h&&await this.wait()}let t=this.#i;if(this.#i=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#h(){return this.#n==="open"}#c(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#n="open";for(let t of this.#t)t.addEventListener("abort",this.#r,{once:!0});this.#e?.add(this);try{this.#h&&this.begin()}catch(t){this.end({error:t})}}},T=class{#t=new Set;#e;get haveEnded(){return this.#e!==void 0}add(t){this.#e===void 0?this.#t.add(t):t.end(this.#e.failure)}delete(t){this.#t.delete(t)}end(t){this.#e??={failure:t};for(let e of this.#t)e.end(this.#e.failure)}[Symbol.iterator](){return this.#t.values()}};var _=class{#t;#e=new Set;#n;#i=!1;#a=!1;constructor(t){this.#t=t}subscribe=t=>{let e={call:t};return this.#e.add(e),()=>void this.#e.delete(e)};getSnapshot=()=>{let t=this.#n;return t!==void 0&&!this.#i?t:(this.#i=!1,this.#n=t===void 0?this.#t():ne(t,this.#t()))};changed(){this.#i=!0,!(this.#a||this.#e.size===0)&&(this.#a=!0,queueMicrotask(()=>{this.#a=!1;for(let t of[...this.#e])this.#e.has(t)&&Z(t.call)}))}};function ne(n,t){let[e,s]=[n,t],i=!1;for(let r in s)se(e[r],s[r])?s[r]=e[r]:i=!0;return i?t:n}function se(n,t){return!Array.isArray(n)||!Array.isArray(t)?n===t:n.length===t.length&&t.every((e,s)=>e===n[s])}var w=Symbol("internals");var N=class extends TypeError{reason="argument"};function bt(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:r=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+r))*(1+Math.random()*r)}function q(){return performance.now()}var yt=2**31-1,S=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=yt)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=q()+t;this.#e=setTimeout(()=>this.arm(e-q()),yt)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};async function xt(n,t={}){let e=new E;new S(()=>e.open()).arm(Math.min(n,Number.MAX_VALUE)),await e.wait(t)}var j=60,C=3600,k=86400,D=31536e3;function Et(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*j?\`\${t}s\`:t<10*j?P(t,j,"m",1,"s"):t<3*C?\`\${Math.floor(t/j)}m\`:t<8*C?P(t,C,"h",j,"m"):t<2*k?\`\${Math.floor(t/C)}h\`:t<8*k?P(t,k,"d",C,"h"):t<2*D?\`\${Math.floor(t/k)}d\`:t<8*D?P(t,D,"y",k,"d"):\`\${Math.floor(t/D)}y\`}function P(n,t,e,s,i){let r=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${r===0?"":\`\${r}\${i}\`}\`}function vt(n){try{return n instanceof Error?n.message:String(n)}catch{return"a value that has no text"}}function U(n,t=100){return n.length>t?\`\${n.slice(0,t)}\\u2026\`:n}function ie(n){return n instanceof Error?n.name:typeof n}var re=8;function It(n){let t=[];for(let e=n;e!==void 0&&t.length<re&&!t.includes(e)&&(t.push(e),e instanceof Error);)e=e.cause??(e instanceof AggregateError?e.errors[0]:void 0);return t}var oe=new WeakSet;function ae(n){let t="";for(let e of It(n)){let s=ce(vt(e))||(e instanceof Error?e.name:""),i=e instanceof Error&&e.name==="NotCapable"&&t.includes("--allow-");if(!(s===""||i||t.includes(s))&&(t=t===""?s:/[.?] /.test(t)?\`\${t} (\${s})\`:\`\${t.replace(/[.:;]$/,"")}: \${s}\`,oe.has(e)))break}return t}function ce(n){return n.trim().split(/\\s+/).join(" ")}var St="[redacted]";var Mt="secret|token|passw(?:or)?d|passphrase|credential|key",he=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,Ot(\`(?:\${Mt})["']? ?[:=] ?\`),Ot(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${Mt})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function Ot(n,t=""){return new RegExp(\`(?<=\${n}")[^"]+|(?<=\${n}')[^']+|(?<=\${n})\${t}[^\\\\s"',;]{4,}\`,"gi")}var fe=/[\\w+=-]{32,}/g;function le(n){return/\\d/.test(n)?/[a-z]/.test(n)&&/[A-Z]/.test(n)||/[a-z\\d]{32}/i.test(n):!1}function ue(n){let t=n.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let e of he)t=t.replaceAll(e,St);return t.replaceAll(fe,e=>le(e)?St:e)}var $t=6e4,de=20,pe=600,me=1e3,H=class{#t=new Map;#e={beganMs:-1/0,lines:0};#n=0;report(t,e,s=""){let i=q(),r=ge(e,s),o=this.#t.get(r);if(o!==void 0&&i-o.writtenMs<$t){o.repeats++;return}if(i-this.#e.beganMs>=$t&&(this.#e={beganMs:i,lines:0}),this.#e.lines>=de){this.#n++;return}this.#e.lines++,this.#t.size>=me&&this.#t.clear(),this.#t.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let c=U(ue(\`\${t}: \${ae(e)}\`),pe);console.warn(a.length===0?c:\`\${c} (\${a.join("; ")})\`)}};function ge(n,t){let e=It(n).at(-1),i=vt(e).replace(/^Cannot [^]*?": (?=[^])/,""),o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,c)=>a.replaceAll(c,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${ie(e)}: \${o}\`}function we(n,t){let e=[],s=Array.from({length:t.length+1},(i,r)=>r);for(let i=1;i<=n.length;i++){let r=[i];for(let o=1;o<=t.length;o++){let a=s[o-1]+(n[i-1]===t[o-1]?0:1),c=i>1&&o>1&&n[i-1]===t[o-2]&&n[i-2]===t[o-1];r.push(Math.min(a,s[o]+1,r[o-1]+1,c?e[o-2]+1:1/0))}[e,s]=[s,r]}return s[t.length]}function Tt(n,t,e){if(n.length>200)return;let s=At(n),i,r=(e??Math.max(1,Math.floor(s.length/3)))+1;for(let o of t){if(o.length>200)continue;let a=we(s,At(o));a<r&&([i,r]=[o,a])}return i}function At(n){return n.toLowerCase().replaceAll(/[-_. ]/g,"")}function G(n,t,e,s="Remove it"){if(t==null||Object.getPrototypeOf(t)?.constructor!==Object)return;let i=typeof e=="string"?e.split(" "):e,r=Object.keys(t).find(c=>!i.includes(c));if(r===void 0)return;let o=Tt(r,i),a=o===void 0?\`\${s}. The options are \${i.join(", ")}\`:\`Did you mean "\${o}"?\`;throw new N(\`Cannot \${n}: there is no option "\${U(r)}". \${a}\`)}var Ye=2n**63n-1n;var ye=["==","!=","="],Qe=[...ye,..."!(),<>"];function Nt(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}var jt="signal headers fetch onError hiddenMs",y=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function Ct({onError:n},t){let e=new H;return n??(s=>e.report(\`subscription to "\${t}"\`,s))}function tt(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function et(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new y(\`Cannot subscribe to \${n}: \${r.status} \${a}\`,r.status)}var Q=class{#t=[];#e="";push(t){let e=this.#e+t.replaceAll("\\r","");this.#e=/(?<!\\n)\\n$|$/.exec(e)[0];let s=e.slice(0,e.length-this.#e.length).split(\`

\`);return this.#t.push(s[0]),s.length===1?[]:(s[0]=this.#t.join(""),this.#t=[s.pop()],s.map(be))}};function be(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?e.push(o):a==="id"&&(s=o)}return{event:t,data:e.join(\`
\`),id:s}}var Y=7e4,xe=[408,425,429];async function kt({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:r}=s;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:c}=n(),g=!1;try{await Se(a,c,s,l=>{o=0,t(l)})}catch(l){if(i.throwIfAborted(),l instanceof y&&l.status<500&&!xe.includes(l.status))throw l;g=l===Rt(),g||r(l)}e(),g&&await Ee(i),await xt(bt(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}var Rt=wt("The page is hidden");function Lt(n,t){let e=globalThis.document,s=()=>t(e?.hidden??!1);e?.addEventListener("visibilitychange",s,{signal:n}),s()}async function Ee(n){let t=new E;using e=new m(n);Lt(e.signal,s=>s||t.open()),await t.wait({signal:n})}async function Se(n,t,e,s){let i=new m(e.signal),r;i.signal.addEventListener("abort",()=>void r?.cancel().catch(()=>{}));let o=new S(()=>i.abort(Rt()));Lt(i.signal,c=>o.arm(c?e.hiddenMs??3e4:1/0));let a=new S(()=>i.abort(new Error(\`Nothing came from \${n} for \${Y/1e3} s\`)));try{a.arm(Y);let{body:c}=await et(n,e,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:i.signal});r=c.getReader(),i.signal.throwIfAborted();let g=new TextDecoder,l=new Q;for(;;){let{done:v,value:L}=await r.read();if(v)return i.signal.throwIfAborted();a.arm(Y);for(let te of l.push(g.decode(L,{stream:!0})))s(te)}}finally{for(let c of[a,o])c[Symbol.dispose]();i[Symbol.dispose]()}}var nt=class{#t;#e=new T;#n=new _(()=>{let{total:t,offset:e,hasSynced:s}=this;return{rows:[...this.#r],total:t,offset:e,hasSynced:s,isConnected:this.#i,...this.#a}});#i=!1;#a;#o;#r=[];#s;constructor(t,e){this.#o=t,this.#t=e}get request(){return this.#o}get hasSynced(){return this.#s!==void 0}get total(){return this.#s?.total??0}get offset(){return this.#s?.offset??0}rows(){return this.#r}replace(t){this.#o={...this.#o,...t},this.#t(!1)}changes(t={}){return G("read a view",t,"signal"),new st(t.signal,this.#e,()=>this.#s&&this.#c(this.#s))}get subscribe(){return this.#n.subscribe}get getSnapshot(){return this.#n.getSnapshot}[w]={accept:({total:t,offset:e,rows:s,changes:i})=>{let r={total:t,offset:e,...s&&{rows:this.#h(s)},changes:i};this.#s=r,this.#r=Nt(this.#r,r),this.#n.changed();for(let o of this.#e)o.update=o.update===void 0?r:this.#c(r),o.wake()},connected:t=>{this.#i=t,this.#n.changed()},end:t=>{this.#e.haveEnded||(this.#a=t,this[w].connected(!1),this.#e.end(t),this.#t(!0))}};[Symbol.dispose](){this[w].end()}#h(t){let e=new Map(this.#r.map(s=>[s.key,s]));return t.map(s=>{let i=e.get(s.key);return i!==void 0&&JSON.stringify(i)===JSON.stringify(s)?i:s})}#c({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#r],changes:[]}}},st=class extends I{update;#t;constructor(t,e,s){super(t,e),this.#t=s}begin(){this.update=this.#t()}poll(){let{update:t}=this;return this.update=void 0,t}},Me=2e3,it=class{#t;#e;#n;#i=new Map;#a=0;#o;#r=!1;#s=!1;#h=new m;#c;constructor(t,e={}){G("subscribe to views",e,\`\${jt} onCollection onNamespaces onConnected\`);let{signal:s}=e;this.#t=t,this.#e={...e,onError:Ct(e,t)},this.#n=new m(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#n.release(),this.#w(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#o!==void 0}view(t){if(this.#c!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#a),s=new nt(t,i=>{(!i||this.#i.delete(e))&&this.#l()});return this.#i.set(e,s),s[w].connected(this.isConnected),this.#l(),s}[Symbol.dispose](){this.#w(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#i].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#n;return kt({request:()=>{let e=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#r=e.length>Me,{address:tt(this.#t,\`views\${this.#r?"":e}\`)}},onEvent:e=>this.#g(e),onDown:()=>this.#f(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#u(e,s)})}#u(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#h=new m(e.signal??void 0),s(t,{...e,signal:this.#h.signal})}#g({event:t,data:e}){if(this.#c===void 0){if(t==="stream")this.#f(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="namespaces")this.#e.onNamespaces?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#i.get(s.view)?.[w].accept(s)}}}#f(t){this.#o=t;for(let e of this.#i.values())e[w].connected(this.isConnected);this.#e.onConnected?.(t!==void 0),this.#r&&this.#p()}#l(){this.#r||(this.#r=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#r&&!this.#s&&this.#o!==void 0&&this.#c===void 0;){this.#r=!1,this.#s=!0;let t=tt(this.#t,\`views/\${this.#o}\`),e=this.#h;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#d(),headers:s,signal:e.signal};await et(t,this.#e,i)}catch(s){if(s instanceof y&&s.status===400)this.#e.onError(s);else{let i={cause:s};e.abort(new Error("Cannot change the views: another stream follows",i))}}finally{this.#s=!1}}}#w(t){if(this.#c===void 0){this.#c={failure:t},this.#o!==void 0&&this.#f(void 0);for(let e of[...this.#i.values()])e[w].end(t)}}};function _t(n,t={}){return new it(n,t)}var W=class{#t;#e;#n=[];#i="";#a=[];#o=0;#r=0;#s={key:void 0,index:0};#h=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#u());let r=new ResizeObserver(()=>this.#u());for(let o of[s,t.table])r.observe(o);s.addEventListener("keydown",o=>this.#g(o)),i.addEventListener("pointerover",({target:o})=>{let a=o.closest("td");a!==null&&(a.title=a.textContent)}),i.addEventListener("click",o=>{let a=[...i.rows].findIndex(c=>c.contains(o.target));a>=0&&this.#f(this.#o+a)})}get#c(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t,e,s){this.#n=t,this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(i=>this.#m(i))),this.order(e),this.toTop(),this.#s={key:s,index:0},this.show([],0,0)}order(t){this.#i=t,this.#n.forEach(({sortKeys:e},s)=>{let i=["ascending","descending"][e.indexOf(t)];i===void 0?this.#t.heads.cells[s].removeAttribute("aria-sort"):this.#t.heads.cells[s].setAttribute("aria-sort",i)})}toTop(){this.#s={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#u()}wait(t){z(this.#t.table,"aria-busy",String(t))}focus(){this.#l(this.#s.index)}show(t,e,s){this.#a=t,this.#o=e,this.#r=s;let{scroller:i,table:r,before:o,after:a,rows:c}=this.#t,g=document.activeElement===i||c.contains(document.activeElement);r.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let l=t.findIndex(({key:v})=>v===this.#s.key);for(l>=0&&(this.#s={key:this.#s.key,index:e+l}),this.#s={...this.#s,index:Math.max(0,Math.min(this.#s.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((v,L)=>this.#d(c.rows[L]??c.insertRow(),v,e+L)),(this.#h||g)&&this.#p()}refresh(){this.show(this.#a,this.#o,this.#r)}#d(t,{object:e},s){let i=s===this.#s.index;for(z(t,"aria-rowindex",String(s+2)),z(t,"aria-selected",String(i)),z(t,"tabindex",i?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),c=e===null?"":r(e);a.textContent!==c&&(a.textContent=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=e;this.#e.onSort(this.#i===r?o:this.#i===o?"":r)}),s.append(i),s}#u(){let{scroller:t}=this.#t,e=t.scrollWidth-t.clientWidth-t.scrollLeft;t.classList.toggle("cut",e>1);let s=Math.floor(t.scrollTop/28),i=Math.max(0,Math.floor((s-20)/20)*20),r=Math.ceil((this.#c+4*20)/20)*20;this.#e.onWindow({offset:i,limit:r})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#s,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#c,PageUp:e-this.#c,Home:0,End:this.#r-1};if(t.key==="Enter")this.#f(e);else if(Object.hasOwn(s,t.key))this.#l(s[t.key]);else return;t.preventDefault()}#f(t){let e=this.#a[t-this.#o];e===void 0||this.#t.table.getAttribute("aria-busy")==="true"||(this.#l(t),this.#e.onOpen(e.key))}#l(t){let e=Math.max(0,Math.min(t,this.#r-1));this.#s={key:this.#a[e-this.#o]?.key,index:e};let{scroller:s}=this.#t,i=e*28,r=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+r&&(s.scrollTop=i-r),this.#h=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#s.index-this.#o];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#h=!1,this.#s={...this.#s,key:this.#a[this.#s.index-this.#o].key},t.focus({preventScroll:!0})}};function z(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var Oe={collection:/^/,namespace:/^[\\w.-]{0,253}$/,filter:/^.{0,200}$/,sort:/^(?:-?(?:metadata\\.(?:name|namespace|creationTimestamp)|cells\\.\\d{1,3}))?$/,object:/^[^/]{0,253}(?:\\/[^/]{1,253})?$/};function rt(n,t){let e=new URLSearchParams(n.slice(1)),s=r=>{let o=e.get(r)??"";return Oe[r].test(o)?o:""};return{collection:(t.find(({name:r})=>r===s("collection"))??t[0]).name,namespace:s("namespace"),filter:s("filter"),sort:s("sort"),object:s("object")}}function J(n){let t=Object.entries(n).filter(([,e])=>e!=="");return\`#\${new URLSearchParams(t).toString().replaceAll("%2F","/")}\`}var B=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(e-1-r/s*(e-2)).toFixed(1)}\`}).join("")}};function Dt(n){return ot(n,"").join(\`
\`).trimStart()}function ot(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>Ae(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>$e(s,n[s],t))]}return typeof n=="string"?Ie(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function $e(n,t,e){let[s,...i]=ot(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${Pt.test(n)&&!qt.test(n)?n:Ht(n)}:\${s}\`,...i]}function Ae(n,t){let e=\`\${t}  \`,[s,...i]=ot(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var Pt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,qt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,ve=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Ie(n,t){if(Pt.test(n)&&!qt.test(n))return[\` \${n}\`];if(!ve.test(n))return[\` \${Ht(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function Ht(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var Ut={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Te={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Gt={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?Et(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(n){return document.getElementById(n)}var F=h("collection"),M=h("namespace"),b=h("filter"),ht=h("details"),at=h("state"),K=h("problem"),dt=new Map,Bt=new Map,ct=new B,Ft=!1,O=[],d,f,u,zt,Kt={offset:0,limit:100},A,X=!1,Wt,$,pt=_t(new URL("./",location.href),{onCollection:n=>{dt.set(n.name,n),R()},onNamespaces:n=>{Bt.set(n.name,n.namespaces),Xt()},onConnected:n=>{Ft=n,n&&O.length>0&&(K.hidden=!0),R()},onError:n=>{n instanceof y&&gt(n)}}),ft=h("scroller"),p=new W({scroller:ft,table:ft.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:n=>{let{offset:t,limit:e}=Kt=n;u===void 0||u.request.offset===t&&u.request.limit===e||u.replace({offset:t,limit:e})},onSort:n=>x({sort:n}),onOpen:n=>x({object:n})});async function mt(n,t){try{for await(let e of n.changes())t()}catch(e){gt(e)}}function gt(n){K.textContent=n instanceof Error?n.message:String(n),K.hidden=!1,R()}function V(){let n=A!==void 0||u?.hasSynced===!1;p.wait(n),!(n||!X)&&(X=!1,p.focus())}function R(){let n=f&&dt.get(f.name),t=K.hidden?Ft?n?.state??"connecting":"disconnected":"refused";at.textContent!==t&&(at.textContent=t),at.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=u??{},i=n?.objects!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",h("empty").hidden=!s||e>0}function Xt(){if(d===void 0||f===void 0)return;h("namespaces").hidden=f.scope!=="Namespaced";let n=d.namespace,t=[...new Set([...Bt.get(f.name)??[],...n===""?[]:[n]])].sort();M.dataset.names!==t.join()&&(M.dataset.names=t.join(),M.replaceChildren(new Option("all",""),...t.map(e=>new Option(e)))),M.value=n}function x(n,t=!0){let e={...d,...n},s=J(e);s!==J(d)&&(t?history.pushState(null,"",s):history.replaceState(null,"",s),lt(e))}function lt(n){let t=d;d=n;let e=n.collection!==t?.collection;e?Ne(O.find(({name:s})=>s===n.collection)):JSON.stringify(ut(n))!==JSON.stringify(ut(t))&&(p.order(n.sort),p.toTop(),Vt()),(e||n.object!==t.object)&&(n.object===""?Zt():Ce(n.object)),F.value=n.collection,A===void 0&&(b.value=n.filter),Xt(),document.title=\`\${n.object||f.kind}: informer\`}function ut({namespace:n,filter:t,sort:e}){return{namespace:f.scope==="Namespaced"?n:"",search:t,sortBy:e===""?[]:[e]}}function Ne(n){f=n,Zt(),zt?.[Symbol.dispose]();let{name:t,isTable:e}=n;ft.querySelector("table").setAttribute("aria-label",t);let{sort:s,object:i}=d,r=zt=pt.view({of:t,fields:[e?"columns":"metadata.name"],limit:1});p.reset(e?[]:Jt(n,void 0),s,i);let o="";mt(r,()=>{let a=r.rows()[0]?.object?.columns,c=JSON.stringify(a?.map(g=>g.name));a===void 0||c===o||(o=c,p.reset(Jt(n,a),d.sort,d.object),u?.hasSynced&&p.show(u.rows(),u.offset,u.total))}),Vt(),R()}function Vt(){let{name:n,isTable:t}=f,e=t?["metadata.name","cells"]:["metadata.name"];u?.[Symbol.dispose]();let s=u=pt.view({of:n,...ut(d),fields:e,...Kt});V(),mt(s,()=>{s===u&&(p.show(s.rows(),s.offset,s.total),R(),V())})}function Jt({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:r},o)=>i>0?[]:s==="Age"?[Gt]:r==="name"?[Ut]:[{title:s,textOf:({cells:a})=>je(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...n==="Namespaced"?[Te]:[],...e??[Ut,Gt]]}function je(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function Ce(n){$?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=pt.view({of:f.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...f.isTable?{fields:["object"]}:{},limit:1});$={key:n,view:s},h("title").textContent=n,h("yaml").textContent="",ht.hidden=!1,mt(s,()=>{let i=s.rows()[0]?.object,r=i?Dt(f.isTable?i.object:i):\`\${n} is gone\`;h("yaml").textContent!==r&&(h("yaml").textContent=r)}),h("yaml").focus()}function Zt(){$!==void 0&&($.view[Symbol.dispose](),$=void 0,ht.contains(document.activeElement)&&p.focus(),ht.hidden=!0)}h("close").addEventListener("click",()=>x({object:""}));addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),b.focus(),b.select()):n.key==="Escape"&&$!==void 0?(x({object:""}),p.focus()):n.key==="Escape"&&n.target===b?p.focus():n.key==="Enter"&&n.target===b&&(X=!0,Yt())});b.addEventListener("input",()=>{clearTimeout(A),X=!1,A=setTimeout(Yt,150),V()});function Yt(){clearTimeout(A),A=void 0,x({filter:b.value},location.hash!==Wt),Wt=location.hash,V()}setInterval(()=>{ct.sample(f&&dt.get(f.name)?.events),h("plot").querySelector("path").setAttribute("d",ct.path(120,24)),h("per_second").textContent=\`\${ct.perSecond} events/s\`,p.refresh()},1e3);async function Qt(n){let t=await fetch(new URL(n,location.href)),e=await t.text();if(t.ok)return JSON.parse(e);let s=e.slice(0,200);try{s=JSON.parse(e).error}catch{}throw new Error(\`\${t.status} \${s}\`)}async function ke(){let[,n]=/\\/clusters\\/([^/]+)\\/$/.exec(location.pathname)??[];if(n===void 0)return;let t=await Qt("../../clusters"),e=h("cluster");e.replaceChildren(...t.map(s=>new Option(s,s,!1,s===decodeURIComponent(n)))),e.addEventListener("change",()=>{let s=d===void 0?"":J({...d,object:""});location.assign(\`../\${encodeURIComponent(e.value)}/\${s}\`)}),h("clusters").hidden=!1}try{await ke(),{collections:O}=await Qt("api"),F.replaceChildren(...O.map(({name:n})=>new Option(n))),F.addEventListener("change",()=>x({collection:F.value,sort:"",object:""})),M.addEventListener("change",()=>x({namespace:M.value})),addEventListener("popstate",()=>lt(rt(location.hash,O))),lt(rt(location.hash,O))}catch(n){gt(n)}</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-V3u2h1H7krin+f69OQAOgrTGICqj2A5VmnBXsWgxb4A='; style-src 'sha256-/HZpanbmXDHj8hZcouzjyQ0/TUZgPEQsxlTSTAQ61Q8='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
