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
<script type="module">var m=class{#t=new AbortController;#e;#n=()=>this.abort(this.#i?.reason);constructor(...t){if(this.#e=t,this.#i!==void 0)this.#n();else for(let e of t)e?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#i(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};function gt(n){let t;return()=>t??=new DOMException(n,"AbortError")}var x=class{#t;#e=new Set;get isOpen(){return this.#t?.length===0}open(){this.#n([])}fail(t){this.#n([t])}notify(...t){if(this.#e.size===0)return;let e=[...this.#e];this.#e.clear();for(let s of e)s(t)}wait(t={}){let{signal:e}=t;return this.#t!==void 0?this.#t.length>0?Promise.reject(this.#t[0]):Promise.resolve():e?.aborted?Promise.reject(e.reason):new Promise((s,i)=>{let r=a=>{e?.removeEventListener("abort",o),a.length>0?i(a[0]):s()},o=()=>{this.#e.delete(r),i(e.reason)};e?.addEventListener("abort",o,{once:!0}),this.#e.add(r)})}#n(t){this.#t===void 0&&(this.#t=t,this.notify(...t))}};function te(n){typeof globalThis.reportError=="function"?globalThis.reportError(n):queueMicrotask(()=>{throw n})}function V(n){try{n()}catch(t){te(t)}}var I=class{#t;#e;#n="new";#i;#a;#o=Promise.resolve();constructor(t,e){this.#t=t===void 0?[]:[t],this.#e=e}begin(){}finish(){}wait(){return new Promise(t=>this.#a=t)}endWith(t){this.#t.push(t)}wake(){this.#a?.()}end(t){if(this.#n!=="over"){this.#n="over",this.#i=t;for(let e of this.#t)e.removeEventListener("abort",this.#r);this.#e?.delete(this),this.finish(),this.wake()}}next(){let t=this.#o.then(this.#s);return this.#o=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#r=()=>this.end();#s=async()=>{for(this.#n==="new"&&this.#c();this.#f;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#f&&await this.wait()}let t=this.#i;if(this.#i=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#f(){return this.#n==="open"}#c(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#n="open";for(let t of this.#t)t.addEventListener("abort",this.#r,{once:!0});this.#e?.add(this);try{this.#f&&this.begin()}catch(t){this.end({error:t})}}},N=class{#t=new Set;#e;get haveEnded(){return this.#e!==void 0}add(t){this.#e===void 0?this.#t.add(t):t.end(this.#e.failure)}delete(t){this.#t.delete(t)}end(t){this.#e??={failure:t};for(let e of this.#t)e.end(this.#e.failure)}[Symbol.iterator](){return this.#t.values()}};var L=class{#t;#e=new Set;#n;#i=!1;#a=!1;constructor(t){this.#t=t}subscribe=t=>{let e={call:t};return this.#e.add(e),()=>void this.#e.delete(e)};getSnapshot=()=>{let t=this.#n;return t!==void 0&&!this.#i?t:(this.#i=!1,this.#n=t===void 0?this.#t():ee(t,this.#t()))};changed(){this.#i=!0,!(this.#a||this.#e.size===0)&&(this.#a=!0,queueMicrotask(()=>{this.#a=!1;for(let t of[...this.#e])this.#e.has(t)&&V(t.call)}))}};function ee(n,t){let[e,s]=[n,t],i=!1;for(let r in s)ne(e[r],s[r])?s[r]=e[r]:i=!0;return i?t:n}function ne(n,t){return!Array.isArray(n)||!Array.isArray(t)?n===t:n.length===t.length&&t.every((e,s)=>e===n[s])}var w=Symbol("internals");function yt(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:r=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+r))*(1+Math.random()*r)}function P(){return performance.now()}var wt=2**31-1,S=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=wt)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=P()+t;this.#e=setTimeout(()=>this.arm(e-P()),wt)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};async function bt(n,t={}){let e=new x;new S(()=>e.open()).arm(Math.min(n,Number.MAX_VALUE)),await e.wait(t)}var T=60,j=3600,C=86400,_=31536e3;function Et(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*T?\`\${t}s\`:t<10*T?D(t,T,"m",1,"s"):t<3*j?\`\${Math.floor(t/T)}m\`:t<8*j?D(t,j,"h",T,"m"):t<2*C?\`\${Math.floor(t/j)}h\`:t<8*C?D(t,C,"d",j,"h"):t<2*_?\`\${Math.floor(t/C)}d\`:t<8*_?D(t,_,"y",C,"d"):\`\${Math.floor(t/_)}y\`}function D(n,t,e,s,i){let r=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${r===0?"":\`\${r}\${i}\`}\`}function Mt(n){try{return n instanceof Error?n.message:String(n)}catch{return"a value that has no text"}}function H(n,t=100){return n.length>t?\`\${n.slice(0,t)}\\u2026\`:n}function se(n){return n instanceof Error?n.name:typeof n}var ie=8;function vt(n){let t=[];for(let e=n;e!==void 0&&t.length<ie&&!t.includes(e)&&(t.push(e),e instanceof Error);)e=e.cause??(e instanceof AggregateError?e.errors[0]:void 0);return t}var re=new WeakSet;function oe(n){let t="";for(let e of vt(n)){let s=ae(Mt(e))||(e instanceof Error?e.name:""),i=e instanceof Error&&e.name==="NotCapable"&&t.includes("--allow-");if(!(s===""||i||t.includes(s))&&(t=t===""?s:/[.?] /.test(t)?\`\${t} (\${s})\`:\`\${t.replace(/[.:;]$/,"")}: \${s}\`,re.has(e)))break}return t}function ae(n){return n.trim().split(/\\s+/).join(" ")}var xt="[redacted]";var St="secret|token|passw(?:or)?d|passphrase|credential|key",ce=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,Ot(\`(?:\${St})["']? ?[:=] ?\`),Ot(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${St})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function Ot(n,t=""){return new RegExp(\`(?<=\${n}")[^"]+|(?<=\${n}')[^']+|(?<=\${n})\${t}[^\\\\s"',;]{4,}\`,"gi")}var fe=/[\\w+=-]{32,}/g;function he(n){return/\\d/.test(n)?/[a-z]/.test(n)&&/[A-Z]/.test(n)||/[a-z\\d]{32}/i.test(n):!1}function le(n){let t=n.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let e of ce)t=t.replaceAll(e,xt);return t.replaceAll(fe,e=>he(e)?xt:e)}var $t=6e4,ue=20,de=600,pe=1e3,q=class{#t=new Map;#e={beganMs:-1/0,lines:0};#n=0;report(t,e,s=""){let i=P(),r=me(e,s),o=this.#t.get(r);if(o!==void 0&&i-o.writtenMs<$t){o.repeats++;return}if(i-this.#e.beganMs>=$t&&(this.#e={beganMs:i,lines:0}),this.#e.lines>=ue){this.#n++;return}this.#e.lines++,this.#t.size>=pe&&this.#t.clear(),this.#t.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let c=H(le(\`\${t}: \${oe(e)}\`),de);console.warn(a.length===0?c:\`\${c} (\${a.join("; ")})\`)}};function me(n,t){let e=vt(n).at(-1),s=Mt(e),i=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,c)=>a.replaceAll(c,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${se(e)}: \${o}\`}function ge(n,t){let e=[],s=Array.from({length:t.length+1},(i,r)=>r);for(let i=1;i<=n.length;i++){let r=[i];for(let o=1;o<=t.length;o++){let a=s[o-1]+(n[i-1]===t[o-1]?0:1),c=i>1&&o>1&&n[i-1]===t[o-2]&&n[i-2]===t[o-1];r.push(Math.min(a,s[o]+1,r[o-1]+1,c?e[o-2]+1:1/0))}[e,s]=[s,r]}return s[t.length]}function It(n,t,e){if(n.length>200)return;let s=At(n),i,r=(e??Math.max(1,Math.floor(s.length/3)))+1;for(let o of t){if(o.length>200)continue;let a=ge(s,At(o));a<r&&([i,r]=[o,a])}return i}function At(n){return n.toLowerCase().replaceAll(/[-_. ]/g,"")}function G(n,t,e,s="Remove it"){if(t==null||Object.getPrototypeOf(t)?.constructor!==Object)return;let i=typeof e=="string"?e.split(" "):e,r=Object.keys(t).find(c=>!i.includes(c));if(r===void 0)return;let o=It(r,i),a=o===void 0?\`\${s}. The options are \${i.join(", ")}\`:\`Did you mean "\${o}"?\`;throw new TypeError(\`Cannot \${n}: there is no option "\${H(r)}". \${a}\`)}var Xe=2n**63n-1n;var we=["==","!=","="],Ve=[...we,..."!(),<>"];function Nt(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}var Tt="signal headers fetch onError hiddenMs",y=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function jt({onError:n},t){let e=new q;return n??(s=>e.report(\`subscription to "\${t}"\`,s))}function Q(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function tt(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new y(\`Cannot subscribe to \${n}: \${r.status} \${a}\`,r.status)}var Y=class{#t=[];#e="";push(t){let e=this.#e+t.replaceAll("\\r","");this.#e=/(?<!\\n)\\n$|$/.exec(e)[0];let s=e.slice(0,e.length-this.#e.length).split(\`

\`);return this.#t.push(s[0]),s.length===1?[]:(s[0]=this.#t.join(""),this.#t=[s.pop()],s.map(ye))}};function ye(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?e.push(o):a==="id"&&(s=o)}return{event:t,data:e.join(\`
\`),id:s}}var Z=7e4,be=[408,425,429];async function Ct({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:r}=s;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:c}=n(),g=!1;try{await xe(a,c,s,l=>{o=0,t(l)})}catch(l){if(i.throwIfAborted(),l instanceof y&&l.status<500&&!be.includes(l.status))throw l;g=l===Rt(),g||r(l)}e(),g&&await Ee(i),await bt(yt(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}var Rt=gt("The page is hidden");function kt(n,t){let e=globalThis.document,s=()=>t(e?.hidden??!1);e?.addEventListener("visibilitychange",s,{signal:n}),s()}async function Ee(n){let t=new x;using e=new m(n);kt(e.signal,s=>s||t.open()),await t.wait({signal:n})}async function xe(n,t,e,s){let i=new m(e.signal),r;i.signal.addEventListener("abort",()=>void r?.cancel().catch(()=>{}));let o=new S(()=>i.abort(Rt()));kt(i.signal,c=>o.arm(c?e.hiddenMs??3e4:1/0));let a=new S(()=>i.abort(new Error(\`Nothing came from \${n} for \${Z/1e3} s\`)));try{a.arm(Z);let{body:c}=await tt(n,e,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:i.signal});r=c.getReader(),i.signal.throwIfAborted();let g=new TextDecoder,l=new Y;for(;;){let{done:v,value:k}=await r.read();if(v)return i.signal.throwIfAborted();a.arm(Z);for(let Qt of l.push(g.decode(k,{stream:!0})))s(Qt)}}finally{for(let c of[a,o])c[Symbol.dispose]();i[Symbol.dispose]()}}var et=class{#t;#e=new N;#n=new L(()=>{let{total:t,offset:e,hasSynced:s}=this;return{rows:[...this.#r],total:t,offset:e,hasSynced:s,isConnected:this.#i,...this.#a}});#i=!1;#a;#o;#r=[];#s;constructor(t,e){this.#o=t,this.#t=e}get request(){return this.#o}get hasSynced(){return this.#s!==void 0}get total(){return this.#s?.total??0}get offset(){return this.#s?.offset??0}rows(){return this.#r}replace(t){this.#o={...this.#o,...t},this.#t(!1)}changes(t={}){return G("read a view",t,"signal"),new nt(t.signal,this.#e,()=>this.#s&&this.#c(this.#s))}get subscribe(){return this.#n.subscribe}get getSnapshot(){return this.#n.getSnapshot}[w]={accept:({total:t,offset:e,rows:s,changes:i})=>{let r={total:t,offset:e,...s&&{rows:this.#f(s)},changes:i};this.#s=r,this.#r=Nt(this.#r,r),this.#n.changed();for(let o of this.#e)o.update=o.update===void 0?r:this.#c(r),o.wake()},connected:t=>{this.#i=t,this.#n.changed()},end:t=>{this.#e.haveEnded||(this.#a=t,this[w].connected(!1),this.#e.end(t),this.#t(!0))}};[Symbol.dispose](){this[w].end()}#f(t){let e=new Map(this.#r.map(s=>[s.key,s]));return t.map(s=>{let i=e.get(s.key);return i!==void 0&&JSON.stringify(i)===JSON.stringify(s)?i:s})}#c({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#r],changes:[]}}},nt=class extends I{update;#t;constructor(t,e,s){super(t,e),this.#t=s}begin(){this.update=this.#t()}poll(){let{update:t}=this;return this.update=void 0,t}},Se=2e3,st=class{#t;#e;#n;#i=new Map;#a=0;#o;#r=!1;#s=!1;#f=new m;#c;constructor(t,e={}){G("subscribe to views",e,\`\${Tt} onCollection onNamespaces onConnected\`);let{signal:s}=e;this.#t=t,this.#e={...e,onError:jt(e,t)},this.#n=new m(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#n.release(),this.#w(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#o!==void 0}view(t){if(this.#c!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#a),s=new et(t,i=>{(!i||this.#i.delete(e))&&this.#l()});return this.#i.set(e,s),s[w].connected(this.isConnected),this.#l(),s}[Symbol.dispose](){this.#w(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#i].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#n;return Ct({request:()=>{let e=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#r=e.length>Se,{address:Q(this.#t,\`views\${this.#r?"":e}\`)}},onEvent:e=>this.#g(e),onDown:()=>this.#h(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#u(e,s)})}#u(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#f=new m(e.signal??void 0),s(t,{...e,signal:this.#f.signal})}#g({event:t,data:e}){if(this.#c===void 0){if(t==="stream")this.#h(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="namespaces")this.#e.onNamespaces?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#i.get(s.view)?.[w].accept(s)}}}#h(t){this.#o=t;for(let e of this.#i.values())e[w].connected(this.isConnected);this.#e.onConnected?.(t!==void 0),this.#r&&this.#p()}#l(){this.#r||(this.#r=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#r&&!this.#s&&this.#o!==void 0&&this.#c===void 0;){this.#r=!1,this.#s=!0;let t=Q(this.#t,\`views/\${this.#o}\`),e=this.#f;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#d(),headers:s,signal:e.signal};await tt(t,this.#e,i)}catch(s){if(s instanceof y&&s.status===400)this.#e.onError(s);else{let i={cause:s};e.abort(new Error("Cannot change the views: another stream follows",i))}}finally{this.#s=!1}}}#w(t){if(this.#c===void 0){this.#c={failure:t},this.#o!==void 0&&this.#h(void 0);for(let e of[...this.#i.values()])e[w].end(t)}}};function Lt(n,t={}){return new st(n,t)}var z=class{#t;#e;#n=[];#i="";#a=[];#o=0;#r=0;#s={key:void 0,index:0};#f=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#u());let r=new ResizeObserver(()=>this.#u());for(let o of[s,t.table])r.observe(o);s.addEventListener("keydown",o=>this.#g(o)),i.addEventListener("pointerover",({target:o})=>{let a=o.closest("td");a!==null&&(a.title=a.textContent)}),i.addEventListener("click",o=>{let a=[...i.rows].findIndex(c=>c.contains(o.target));a>=0&&this.#h(this.#o+a)})}get#c(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t,e,s){this.#n=t,this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(i=>this.#m(i))),this.order(e),this.toTop(),this.#s={key:s,index:0},this.show([],0,0)}order(t){this.#i=t,this.#n.forEach(({sortKeys:e},s)=>{let i=["ascending","descending"][e.indexOf(t)];i===void 0?this.#t.heads.cells[s].removeAttribute("aria-sort"):this.#t.heads.cells[s].setAttribute("aria-sort",i)})}toTop(){this.#s={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#u()}wait(t){U(this.#t.table,"aria-busy",String(t))}focus(){this.#l(this.#s.index)}show(t,e,s){this.#a=t,this.#o=e,this.#r=s;let{scroller:i,table:r,before:o,after:a,rows:c}=this.#t,g=document.activeElement===i||c.contains(document.activeElement);r.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let l=t.findIndex(({key:v})=>v===this.#s.key);for(l>=0&&(this.#s={key:this.#s.key,index:e+l}),this.#s={...this.#s,index:Math.max(0,Math.min(this.#s.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((v,k)=>this.#d(c.rows[k]??c.insertRow(),v,e+k)),(this.#f||g)&&this.#p()}refresh(){this.show(this.#a,this.#o,this.#r)}#d(t,{object:e},s){let i=s===this.#s.index;for(U(t,"aria-rowindex",String(s+2)),U(t,"aria-selected",String(i)),U(t,"tabindex",i?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),c=e===null?"":r(e);a.textContent!==c&&(a.textContent=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=e;this.#e.onSort(this.#i===r?o:this.#i===o?"":r)}),s.append(i),s}#u(){let{scroller:t}=this.#t,e=t.scrollWidth-t.clientWidth-t.scrollLeft;t.classList.toggle("cut",e>1);let s=Math.floor(t.scrollTop/28),i=Math.max(0,Math.floor((s-20)/20)*20),r=Math.ceil((this.#c+4*20)/20)*20;this.#e.onWindow({offset:i,limit:r})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#s,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#c,PageUp:e-this.#c,Home:0,End:this.#r-1};if(t.key==="Enter")this.#h(e);else if(Object.hasOwn(s,t.key))this.#l(s[t.key]);else return;t.preventDefault()}#h(t){let e=this.#a[t-this.#o];e===void 0||this.#t.table.getAttribute("aria-busy")==="true"||(this.#l(t),this.#e.onOpen(e.key))}#l(t){let e=Math.max(0,Math.min(t,this.#r-1));this.#s={key:this.#a[e-this.#o]?.key,index:e};let{scroller:s}=this.#t,i=e*28,r=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+r&&(s.scrollTop=i-r),this.#f=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#s.index-this.#o];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#f=!1,this.#s={...this.#s,key:this.#a[this.#s.index-this.#o].key},t.focus({preventScroll:!0})}};function U(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var Oe={collection:/^/,namespace:/^[\\w.-]{0,253}$/,filter:/^.{0,200}$/,sort:/^(?:-?(?:metadata\\.(?:name|namespace|creationTimestamp)|cells\\.\\d{1,3}))?$/,object:/^[^/]{0,253}(?:\\/[^/]{1,253})?$/};function it(n,t){let e=new URLSearchParams(n.slice(1)),s=r=>{let o=e.get(r)??"";return Oe[r].test(o)?o:""};return{collection:(t.find(({name:r})=>r===s("collection"))??t[0]).name,namespace:s("namespace"),filter:s("filter"),sort:s("sort"),object:s("object")}}function W(n){let t=Object.entries(n).filter(([,e])=>e!=="");return\`#\${new URLSearchParams(t).toString().replaceAll("%2F","/")}\`}var J=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(e-1-r/s*(e-2)).toFixed(1)}\`}).join("")}};function _t(n){return rt(n,"").join(\`
\`).trimStart()}function rt(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>Ae(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>$e(s,n[s],t))]}return typeof n=="string"?ve(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function $e(n,t,e){let[s,...i]=rt(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${Dt.test(n)&&!Pt.test(n)?n:qt(n)}:\${s}\`,...i]}function Ae(n,t){let e=\`\${t}  \`,[s,...i]=rt(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var Dt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,Pt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Me=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function ve(n,t){if(Dt.test(n)&&!Pt.test(n))return[\` \${n}\`];if(!Me.test(n))return[\` \${qt(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function qt(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var Ht={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Ie={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Gt={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?Et(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function f(n){return document.getElementById(n)}var B=f("collection"),O=f("namespace"),b=f("filter"),ct=f("details"),ot=f("state"),F=f("problem"),ut=new Map,Jt=new Map,at=new J,Bt=!1,$=[],d,h,u,Ut,Ft={offset:0,limit:100},M,K=!1,zt,A,dt=Lt(new URL("./",location.href),{onCollection:n=>{ut.set(n.name,n),R()},onNamespaces:n=>{Jt.set(n.name,n.namespaces),Kt()},onConnected:n=>{Bt=n,n&&$.length>0&&(F.hidden=!0),R()},onError:n=>{n instanceof y&&mt(n)}}),ft=f("scroller"),p=new z({scroller:ft,table:ft.querySelector("table"),heads:f("heads"),before:f("before"),rows:f("rows"),after:f("after")},{onWindow:n=>{let{offset:t,limit:e}=Ft=n;u===void 0||u.request.offset===t&&u.request.limit===e||u.replace({offset:t,limit:e})},onSort:n=>E({sort:n}),onOpen:n=>E({object:n})});async function pt(n,t){try{for await(let e of n.changes())t()}catch(e){mt(e)}}function mt(n){F.textContent=n instanceof Error?n.message:String(n),F.hidden=!1,R()}function X(){let n=M!==void 0||u?.hasSynced===!1;p.wait(n),!(n||!K)&&(K=!1,p.focus())}function R(){let n=h&&ut.get(h.name),t=F.hidden?Bt?n?.state??"connecting":"disconnected":"refused";ot.textContent!==t&&(ot.textContent=t),ot.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=u??{},i=n?.objects!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";f("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",f("empty").hidden=!s||e>0}function Kt(){if(d===void 0||h===void 0)return;f("namespaces").hidden=h.scope!=="Namespaced";let n=d.namespace,t=[...new Set([...Jt.get(h.name)??[],...n===""?[]:[n]])].sort();O.dataset.names!==t.join()&&(O.dataset.names=t.join(),O.replaceChildren(new Option("all",""),...t.map(e=>new Option(e)))),O.value=n}function E(n,t=!0){let e={...d,...n},s=W(e);s!==W(d)&&(t?history.pushState(null,"",s):history.replaceState(null,"",s),ht(e))}function ht(n){let t=d;d=n;let e=n.collection!==t?.collection;e?Ne($.find(({name:s})=>s===n.collection)):JSON.stringify(lt(n))!==JSON.stringify(lt(t))&&(p.order(n.sort),p.toTop(),Xt()),(e||n.object!==t.object)&&(n.object===""?Vt():je(n.object)),B.value=n.collection,M===void 0&&(b.value=n.filter),Kt(),document.title=\`\${n.object||h.kind}: informer\`}function lt({namespace:n,filter:t,sort:e}){return{namespace:h.scope==="Namespaced"?n:"",search:t,sortBy:e===""?[]:[e]}}function Ne(n){h=n,Vt(),Ut?.[Symbol.dispose]();let{name:t,isTable:e}=n;ft.querySelector("table").setAttribute("aria-label",t);let{sort:s,object:i}=d,r=Ut=dt.view({of:t,fields:[e?"columns":"metadata.name"],limit:1});p.reset(e?[]:Wt(n,void 0),s,i);let o="";pt(r,()=>{let a=r.rows()[0]?.object?.columns,c=JSON.stringify(a?.map(g=>g.name));a===void 0||c===o||(o=c,p.reset(Wt(n,a),d.sort,d.object),u?.hasSynced&&p.show(u.rows(),u.offset,u.total))}),Xt(),R()}function Xt(){let{name:n,isTable:t}=h,e=t?["metadata.name","cells"]:["metadata.name"];u?.[Symbol.dispose]();let s=u=dt.view({of:n,...lt(d),fields:e,...Ft});X(),pt(s,()=>{s===u&&(p.show(s.rows(),s.offset,s.total),R(),X())})}function Wt({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:r},o)=>i>0?[]:s==="Age"?[Gt]:r==="name"?[Ht]:[{title:s,textOf:({cells:a})=>Te(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...n==="Namespaced"?[Ie]:[],...e??[Ht,Gt]]}function Te(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function je(n){A?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=dt.view({of:h.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...h.isTable?{fields:["object"]}:{},limit:1});A={key:n,view:s},f("title").textContent=n,f("yaml").textContent="",ct.hidden=!1,pt(s,()=>{let i=s.rows()[0]?.object,r=i?_t(h.isTable?i.object:i):\`\${n} is gone\`;f("yaml").textContent!==r&&(f("yaml").textContent=r)}),f("yaml").focus()}function Vt(){A!==void 0&&(A.view[Symbol.dispose](),A=void 0,ct.contains(document.activeElement)&&p.focus(),ct.hidden=!0)}f("close").addEventListener("click",()=>E({object:""}));addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),b.focus(),b.select()):n.key==="Escape"&&A!==void 0?(E({object:""}),p.focus()):n.key==="Escape"&&n.target===b?p.focus():n.key==="Enter"&&n.target===b&&(K=!0,Zt())});b.addEventListener("input",()=>{clearTimeout(M),K=!1,M=setTimeout(Zt,150),X()});function Zt(){clearTimeout(M),M=void 0,E({filter:b.value},location.hash!==zt),zt=location.hash,X()}setInterval(()=>{at.sample(h&&ut.get(h.name)?.events),f("plot").querySelector("path").setAttribute("d",at.path(120,24)),f("per_second").textContent=\`\${at.perSecond} events/s\`,p.refresh()},1e3);async function Yt(n){let t=await fetch(new URL(n,location.href)),e=await t.text();if(t.ok)return JSON.parse(e);let s=e.slice(0,200);try{s=JSON.parse(e).error}catch{}throw new Error(\`\${t.status} \${s}\`)}async function Ce(){let[,n]=/\\/clusters\\/([^/]+)\\/$/.exec(location.pathname)??[];if(n===void 0)return;let t=await Yt("../../clusters"),e=f("cluster");e.replaceChildren(...t.map(s=>new Option(s,s,!1,s===decodeURIComponent(n)))),e.addEventListener("change",()=>{let s=d===void 0?"":W({...d,object:""});location.assign(\`../\${encodeURIComponent(e.value)}/\${s}\`)}),f("clusters").hidden=!1}try{await Ce(),{collections:$}=await Yt("api"),B.replaceChildren(...$.map(({name:n})=>new Option(n))),B.addEventListener("change",()=>E({collection:B.value,sort:"",object:""})),O.addEventListener("change",()=>E({namespace:O.value})),addEventListener("popstate",()=>ht(it(location.hash,$))),ht(it(location.hash,$))}catch(n){mt(n)}</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-l8V9Ou6jrFJoBz0uaPmdfg2lTzHWv3O/sk74IYPgwOs='; style-src 'sha256-/HZpanbmXDHj8hZcouzjyQ0/TUZgPEQsxlTSTAQ61Q8='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
