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
<script type="module">function Y(n,t={}){let{signal:e,persistent:s=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let i,r,o=new Promise((...S)=>[i,r]=S),a,c=Date.now(),f=n>0?Math.trunc(n):0;function m(S){let R=S>2147483647;a=setTimeout(R?()=>m(f-(Date.now()-c)):w,R?2147483647:S),s||Deno.unrefTimer(Number(a))}function w(){e?.removeEventListener("abort",y),i()}function y(){clearTimeout(a),r(e?.reason)}return m(f),e?.addEventListener("abort",y,{once:!0}),o}var g=class{#t=new AbortController;#e;#n=()=>this.abort(this.#i?.reason);constructor(...t){if(this.#e=t,this.#i!==void 0)this.#n();else for(let e of t)e?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#i(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};function Xt(n){typeof globalThis.reportError=="function"?globalThis.reportError(n):queueMicrotask(()=>{throw n})}function mt(n){try{n()}catch(t){Xt(t)}}function gt(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:r=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+r))*(1+Math.random()*r)}function A(){return performance.now()}var L=2**31-1,P=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=L)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=A()+t;this.#e=setTimeout(()=>this.arm(e-A()),L)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};async function wt(n,t={}){let e=A()+n,s=n;for(;s>L;s=e-A())await Y(L,t);await Y(s,t)}var M=60,$=60*M,O=24*$,_=365*O;function yt(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*M?\`\${t}s\`:t<10*M?D(t,M,"m",1,"s"):t<3*$?\`\${Math.floor(t/M)}m\`:t<8*$?D(t,$,"h",M,"m"):t<2*O?\`\${Math.floor(t/$)}h\`:t<8*O?D(t,O,"d",$,"h"):t<2*_?\`\${Math.floor(t/O)}d\`:t<8*_?D(t,_,"y",O,"d"):\`\${Math.floor(t/_)}y\`}function D(n,t,e,s,i){let r=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${r===0?"":\`\${r}\${i}\`}\`}function $t(n){try{return n instanceof Error?n.message:String(n)}catch{return"a value that has no text"}}function G(n,t=100){return n.length>t?\`\${n.slice(0,t)}\\u2026\`:n}function Vt(n){return n instanceof Error?n.name:typeof n}var Yt=8;function Ot(n){let t=[];for(let e=n;e!==void 0&&t.length<Yt&&!t.includes(e)&&(t.push(e),e instanceof Error);)e=e.cause??(e instanceof AggregateError?e.errors[0]:void 0);return t}var Zt=new WeakSet;function Qt(n){let t="";for(let e of Ot(n)){let s=te($t(e))||(e instanceof Error?e.name:""),i=e instanceof Error&&e.name==="NotCapable"&&t.includes("--allow-");if(!(s===""||i||t.includes(s))&&(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`,Zt.has(e)))break}return t}function te(n){return n.trim().split(/\\s+/).join(" ")}var bt="[redacted]";var Et="secret|token|passw(?:or)?d|passphrase|credential|key",ee=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,xt(\`(?:\${Et})["']? ?[:=] ?\`),xt(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${Et})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function xt(n,t=""){return new RegExp(\`(?<=\${n}")[^"]+|(?<=\${n}')[^']+|(?<=\${n})\${t}[^\\\\s"',;]{4,}\`,"gi")}var ne=/[\\w+=-]{32,}/g;function se(n){return/\\d/.test(n)?/[a-z]/.test(n)&&/[A-Z]/.test(n)||/[a-z\\d]{32}/i.test(n):!1}function ie(n){let t=n.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let e of ee)t=t.replaceAll(e,bt);return t.replaceAll(ne,e=>se(e)?bt:e)}var St=6e4,re=20,oe=600,ae=1e3,q=class{#t=new Map;#e={beganMs:-1/0,lines:0};#n=0;report(t,e,s=""){let i=A(),r=ce(e,s),o=this.#t.get(r);if(o!==void 0&&i-o.writtenMs<St){o.repeats++;return}if(i-this.#e.beganMs>=St&&(this.#e={beganMs:i,lines:0}),this.#e.lines>=re){this.#n++;return}this.#e.lines++,this.#t.size>=ae&&this.#t.clear(),this.#t.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let c=G(ie(\`\${t}: \${Qt(e)}\`),oe);console.warn(a.length===0?c:\`\${c} (\${a.join("; ")})\`)}};function ce(n,t){let e=Ot(n).at(-1),s=$t(e),i=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,c)=>a.replaceAll(c,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${Vt(e)}: \${o}\`}function he(n,t){let e=[],s=Array.from({length:t.length+1},(i,r)=>r);for(let i=1;i<=n.length;i++){let r=[i];for(let o=1;o<=t.length;o++){let a=s[o-1]+(n[i-1]===t[o-1]?0:1),c=i>1&&o>1&&n[i-1]===t[o-2]&&n[i-2]===t[o-1];r.push(Math.min(a,s[o]+1,r[o-1]+1,c?e[o-2]+1:1/0))}[e,s]=[s,r]}return s[t.length]}function At(n,t,e){if(n.length>200)return;let s=Mt(n),i,r=(e??Math.max(1,Math.floor(s.length/3)))+1;for(let o of t){if(o.length>200)continue;let a=he(s,Mt(o));a<r&&([i,r]=[o,a])}return i}function Mt(n){return n.toLowerCase().replaceAll(/[-_. ]/g,"")}var qe=2n**63n-1n;var fe=["==","!=","="],Ge=[...fe,..."!(),<>"];var j=class{#t;#e;#n="new";#i;#a;#o=Promise.resolve();constructor(t,e){this.#t=t===void 0?[]:[t],this.#e=e}begin(){}finish(){}wait(){return new Promise(t=>this.#a=t)}endWith(t){this.#t.push(t)}wake(){this.#a?.()}end(t){if(this.#n!=="over"){this.#n="over",this.#i=t;for(let e of this.#t)e.removeEventListener("abort",this.#r);this.#e?.delete(this),this.finish(),this.wake()}}next(){let t=this.#o.then(this.#s);return this.#o=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#r=()=>this.end();#s=async()=>{for(this.#n==="new"&&this.#c();this.#h;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#h&&await this.wait()}let t=this.#i;if(this.#i=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#h(){return this.#n==="open"}#c(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#n="open";for(let t of this.#t)t.addEventListener("abort",this.#r,{once:!0});this.#e?.add(this);try{this.#h&&this.begin()}catch(t){this.end({error:t})}}},k=class{#t=new Set;#e;get haveEnded(){return this.#e!==void 0}add(t){this.#e===void 0?this.#t.add(t):t.end(this.#e.failure)}delete(t){this.#t.delete(t)}end(t){this.#e??={failure:t};for(let e of this.#t)e.end(this.#e.failure)}[Symbol.iterator](){return this.#t.values()}};var B=class{#t;#e=new Set;#n;#i=!1;#a=!1;constructor(t){this.#t=t}subscribe=t=>{let e={call:t};return this.#e.add(e),()=>void this.#e.delete(e)};getSnapshot=()=>{let t=this.#n;return t!==void 0&&!this.#i?t:(this.#i=!1,this.#n=t===void 0?this.#t():ue(t,this.#t()))};changed(){this.#i=!0,!(this.#a||this.#e.size===0)&&(this.#a=!0,queueMicrotask(()=>{this.#a=!1;for(let t of[...this.#e])this.#e.has(t)&&mt(t.call)}))}};function ue(n,t){let[e,s]=[n,t],i=!1;for(let r in s)le(e[r],s[r])?s[r]=e[r]:i=!0;return i?t:n}function le(n,t){return!Array.isArray(n)||!Array.isArray(t)?n===t:n.length===t.length&&t.every((e,s)=>e===n[s])}function U(n,t,e,s="Remove it"){if(t==null||Object.getPrototypeOf(t)?.constructor!==Object)return;let i=typeof e=="string"?e.split(" "):e,r=Object.keys(t).find(c=>!i.includes(c));if(r===void 0)return;let o=At(r,i),a=o===void 0?\`\${s}; there are \${i.join(", ")}\`:\`Did you mean "\${o}"?\`;throw new TypeError(\`Cannot \${n}: there is no option "\${G(r)}". \${a}\`)}function It(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}var de="signal headers fetch onError",b=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function pe({onError:n},t){let e=new q;return n??(s=>e.report(\`subscription to "\${t}"\`,s))}function vt(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function Tt(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new b(\`Cannot subscribe to \${n}: \${r.status} \${a}\`,r.status)}var Q=class{#t=[];#e="";push(t){let e=this.#e+t.replaceAll("\\r","");this.#e=/(?<!\\n)\\n$|$/.exec(e)[0];let s=e.slice(0,e.length-this.#e.length).split(\`

\`);return this.#t.push(s[0]),s.length===1?[]:(s[0]=this.#t.join(""),this.#t=[s.pop()],s.map(me))}};function me(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?e.push(o):a==="id"&&(s=o)}return{event:t,data:e.join(\`
\`),id:s}}var Z=7e4,ge=[408,425,429];async function we({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:r}=s;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:c}=n();try{await ye(a,c,s,f=>{o=0,t(f)})}catch(f){if(i.throwIfAborted(),f instanceof b&&f.status<500&&!ge.includes(f.status))throw f;r(f)}e(),await wt(gt(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function ye(n,t,e,s){let{signal:i}=e,r=new AbortController,o,a=m=>{o?.cancel(m).catch(()=>{}),r.abort(m)},c=()=>a(i.reason),f=new P(()=>a(new Error(\`Nothing came from \${n} for \${Z/1e3} s\`)));i.addEventListener("abort",c,{once:!0});try{f.arm(Z);let{body:m}=await Tt(n,e,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:r.signal});o=m.getReader(),r.signal.throwIfAborted();let w=new TextDecoder,y=new Q;for(;;){let{done:S,value:R}=await o.read();if(S)return r.signal.throwIfAborted();f.arm(Z);for(let Kt of y.push(w.decode(R,{stream:!0})))s(Kt)}}finally{f[Symbol.dispose](),i.removeEventListener("abort",c),a()}}var tt=class{#t;#e=new k;#n=new B(()=>{let{total:t,offset:e,hasSynced:s}=this;return{rows:[...this.#r],total:t,offset:e,hasSynced:s,isConnected:this.#i,...this.#a}});#i=!1;#a;#o;#r=[];#s;constructor(t,e){this.#o=t,this.#t=e}get request(){return this.#o}get hasSynced(){return this.#s!==void 0}get total(){return this.#s?.total??0}get offset(){return this.#s?.offset??0}rows(){return this.#r}replace(t){this.#o={...this.#o,...t},this.#t(!1)}changes(t={}){return U("read a view",t,"signal"),new et(t.signal,this.#e,()=>this.#s&&this.#c(this.#s))}get subscribe(){return this.#n.subscribe}get getSnapshot(){return this.#n.getSnapshot}accept({total:t,offset:e,rows:s,changes:i}){let r={total:t,offset:e,...s&&{rows:this.#h(s)},changes:i};this.#s=r,this.#r=It(this.#r,r),this.#n.changed();for(let o of this.#e)o.update=o.update===void 0?r:this.#c(r),o.wake()}connected(t){this.#i=t,this.#n.changed()}end(t){this.#e.haveEnded||(this.#a=t,this.connected(!1),this.#e.end(t),this.#t(!0))}[Symbol.dispose](){this.end()}#h(t){let e=new Map(this.#r.map(s=>[s.key,s]));return t.map(s=>{let i=e.get(s.key);return i!==void 0&&JSON.stringify(i)===JSON.stringify(s)?i:s})}#c({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#r],changes:[]}}},et=class extends j{update;#t;constructor(t,e,s){super(t,e),this.#t=s}begin(){this.update=this.#t()}poll(){let{update:t}=this;return this.update=void 0,t}},be=2e3,nt=class{#t;#e;#n;#i=new Map;#a=0;#o;#r=!1;#s=!1;#h=new g;#c;constructor(t,e={}){U("subscribe to views",e,\`\${de} onCollection onNamespaces onConnected\`);let{signal:s}=e;this.#t=t,this.#e={...e,onError:pe(e,t)},this.#n=new g(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#n.release(),this.#w(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#o!==void 0}view(t){if(this.#c!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#a),s=new tt(t,i=>{(!i||this.#i.delete(e))&&this.#u()});return this.#i.set(e,s),s.connected(this.isConnected),this.#u(),s}[Symbol.dispose](){this.#w(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#i].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#n;return we({request:()=>{let e=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#r=e.length>be,{address:vt(this.#t,\`views\${this.#r?"":e}\`)}},onEvent:e=>this.#g(e),onDown:()=>this.#f(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#l(e,s)})}#l(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#h=new g(e.signal??void 0),s(t,{...e,signal:this.#h.signal})}#g({event:t,data:e}){if(this.#c===void 0){if(t==="stream")this.#f(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="namespaces")this.#e.onNamespaces?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#i.get(s.view)?.accept(s)}}}#f(t){this.#o=t;for(let e of this.#i.values())e.connected(this.isConnected);this.#e.onConnected?.(t!==void 0),this.#r&&this.#p()}#u(){this.#r||(this.#r=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#r&&!this.#s&&this.#o!==void 0&&this.#c===void 0;){this.#r=!1,this.#s=!0;let t=vt(this.#t,\`views/\${this.#o}\`),e=this.#h;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#d(),headers:s,signal:e.signal};await Tt(t,this.#e,i)}catch(s){if(s instanceof b&&s.status===400)this.#e.onError(s);else{let i={cause:s};e.abort(new Error("Cannot change the views: another stream follows",i))}}finally{this.#s=!1}}}#w(t){if(this.#c===void 0){this.#c={failure:t},this.#o!==void 0&&this.#f(void 0);for(let e of[...this.#i.values()])e.end(t)}}};function Nt(n,t={}){return new nt(n,t)}var H=class{#t;#e;#n=[];#i="";#a=[];#o=0;#r=0;#s={key:void 0,index:0};#h=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#l());let r=new ResizeObserver(()=>this.#l());for(let o of[s,t.table])r.observe(o);s.addEventListener("keydown",o=>this.#g(o)),i.addEventListener("pointerover",({target:o})=>{let a=o.closest("td");a!==null&&(a.title=a.textContent)}),i.addEventListener("click",o=>{let a=[...i.rows].findIndex(c=>c.contains(o.target));a>=0&&this.#f(this.#o+a)})}get#c(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t,e,s){this.#n=t,this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(i=>this.#m(i))),this.order(e),this.toTop(),this.#s={key:s,index:0},this.show([],0,0)}order(t){this.#i=t,this.#n.forEach(({sortKeys:e},s)=>{let i=["ascending","descending"][e.indexOf(t)];i===void 0?this.#t.heads.cells[s].removeAttribute("aria-sort"):this.#t.heads.cells[s].setAttribute("aria-sort",i)})}toTop(){this.#s={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#l()}wait(t){J(this.#t.table,"aria-busy",String(t))}focus(){this.#u(this.#s.index)}show(t,e,s){this.#a=t,this.#o=e,this.#r=s;let{scroller:i,table:r,before:o,after:a,rows:c}=this.#t,f=document.activeElement===i||c.contains(document.activeElement);r.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let m=t.findIndex(({key:w})=>w===this.#s.key);for(m>=0&&(this.#s={key:this.#s.key,index:e+m}),this.#s={...this.#s,index:Math.max(0,Math.min(this.#s.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((w,y)=>this.#d(c.rows[y]??c.insertRow(),w,e+y)),(this.#h||f)&&this.#p()}refresh(){this.show(this.#a,this.#o,this.#r)}#d(t,{object:e},s){let i=s===this.#s.index;for(J(t,"aria-rowindex",String(s+2)),J(t,"aria-selected",String(i)),J(t,"tabindex",i?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),c=e===null?"":r(e);a.textContent!==c&&(a.textContent=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=e;this.#e.onSort(this.#i===r?o:this.#i===o?"":r)}),s.append(i),s}#l(){let{scroller:t}=this.#t,e=t.scrollWidth-t.clientWidth-t.scrollLeft;t.classList.toggle("cut",e>1);let s=Math.floor(t.scrollTop/28),i=Math.max(0,Math.floor((s-20)/20)*20),r=Math.ceil((this.#c+4*20)/20)*20;this.#e.onWindow({offset:i,limit:r})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#s,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#c,PageUp:e-this.#c,Home:0,End:this.#r-1};if(t.key==="Enter")this.#f(e);else if(Object.hasOwn(s,t.key))this.#u(s[t.key]);else return;t.preventDefault()}#f(t){let e=this.#a[t-this.#o];e===void 0||this.#t.table.getAttribute("aria-busy")==="true"||(this.#u(t),this.#e.onOpen(e.key))}#u(t){let e=Math.max(0,Math.min(t,this.#r-1));this.#s={key:this.#a[e-this.#o]?.key,index:e};let{scroller:s}=this.#t,i=e*28,r=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+r&&(s.scrollTop=i-r),this.#h=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#s.index-this.#o];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#h=!1,this.#s={...this.#s,key:this.#a[this.#s.index-this.#o].key},t.focus({preventScroll:!0})}};function J(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var Ee={collection:/^/,namespace:/^[\\w.-]{0,253}$/,filter:/^.{0,200}$/,sort:/^(?:-?(?:metadata\\.(?:name|namespace|creationTimestamp)|cells\\.\\d{1,3}))?$/,object:/^[^/]{0,253}(?:\\/[^/]{1,253})?$/};function st(n,t){let e=new URLSearchParams(n.slice(1)),s=r=>{let o=e.get(r)??"";return Ee[r].test(o)?o:""};return{collection:(t.find(({name:r})=>r===s("collection"))??t[0]).name,namespace:s("namespace"),filter:s("filter"),sort:s("sort"),object:s("object")}}function z(n){let t=Object.entries(n).filter(([,e])=>e!=="");return\`#\${new URLSearchParams(t).toString().replaceAll("%2F","/")}\`}var W=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(e-1-r/s*(e-2)).toFixed(1)}\`}).join("")}};function jt(n){return it(n,"").join(\`
\`).trimStart()}function it(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>Se(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>xe(s,n[s],t))]}return typeof n=="string"?$e(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function xe(n,t,e){let[s,...i]=it(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${kt.test(n)&&!Ct.test(n)?n:Rt(n)}:\${s}\`,...i]}function Se(n,t){let e=\`\${t}  \`,[s,...i]=it(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var kt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,Ct=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Me=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function $e(n,t){if(kt.test(n)&&!Ct.test(n))return[\` \${n}\`];if(!Me.test(n))return[\` \${Rt(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function Rt(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var _t={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Oe={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Dt={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?yt(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(n){return document.getElementById(n)}var F=h("collection"),I=h("namespace"),E=h("filter"),at=h("details"),rt=h("state"),K=h("problem"),ut=new Map,Gt=new Map,ot=new W,Bt=!1,v=[],d,u,l,Lt,Ut={offset:0,limit:100},N,X=!1,Pt,T,lt=Nt(new URL("./",location.href),{onCollection:n=>{ut.set(n.name,n),C()},onNamespaces:n=>{Gt.set(n.name,n.namespaces),Jt()},onConnected:n=>{Bt=n,n&&v.length>0&&(K.hidden=!0),C()},onError:n=>{n instanceof b&&pt(n)}}),ct=h("scroller"),p=new H({scroller:ct,table:ct.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:n=>{let{offset:t,limit:e}=Ut=n;l===void 0||l.request.offset===t&&l.request.limit===e||l.replace({offset:t,limit:e})},onSort:n=>x({sort:n}),onOpen:n=>x({object:n})});async function dt(n,t){try{for await(let e of n.changes())t()}catch(e){pt(e)}}function pt(n){K.textContent=n instanceof Error?n.message:String(n),K.hidden=!1,C()}function V(){let n=N!==void 0||l?.hasSynced===!1;p.wait(n),!(n||!X)&&(X=!1,p.focus())}function C(){let n=u&&ut.get(u.name),t=K.hidden?Bt?n?.state??"connecting":"disconnected":"refused";rt.textContent!==t&&(rt.textContent=t),rt.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=l??{},i=n?.objects!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",h("empty").hidden=!s||e>0}function Jt(){if(d===void 0||u===void 0)return;h("namespaces").hidden=u.scope!=="Namespaced";let n=d.namespace,t=[...new Set([...Gt.get(u.name)??[],...n===""?[]:[n]])].sort();I.dataset.names!==t.join()&&(I.dataset.names=t.join(),I.replaceChildren(new Option("all",""),...t.map(e=>new Option(e)))),I.value=n}function x(n,t=!0){let e={...d,...n},s=z(e);s!==z(d)&&(t?history.pushState(null,"",s):history.replaceState(null,"",s),ht(e))}function ht(n){let t=d;d=n;let e=n.collection!==t?.collection;e?Ae(v.find(({name:s})=>s===n.collection)):JSON.stringify(ft(n))!==JSON.stringify(ft(t))&&(p.order(n.sort),p.toTop(),Ht()),(e||n.object!==t.object)&&(n.object===""?zt():ve(n.object)),F.value=n.collection,N===void 0&&(E.value=n.filter),Jt(),document.title=\`\${n.object||u.kind}: informer\`}function ft({namespace:n,filter:t,sort:e}){return{namespace:u.scope==="Namespaced"?n:"",search:t,sortBy:e===""?[]:[e]}}function Ae(n){u=n,zt(),Lt?.[Symbol.dispose]();let{name:t,isTable:e}=n;ct.querySelector("table").setAttribute("aria-label",t);let{sort:s,object:i}=d,r=Lt=lt.view({of:t,fields:[e?"columns":"metadata.name"],limit:1});p.reset(e?[]:qt(n,void 0),s,i);let o="";dt(r,()=>{let a=r.rows()[0]?.object?.columns,c=JSON.stringify(a?.map(f=>f.name));a===void 0||c===o||(o=c,p.reset(qt(n,a),d.sort,d.object),l?.hasSynced&&p.show(l.rows(),l.offset,l.total))}),Ht(),C()}function Ht(){let{name:n,isTable:t}=u,e=t?["metadata.name","cells"]:["metadata.name"];l?.[Symbol.dispose]();let s=l=lt.view({of:n,...ft(d),fields:e,...Ut});V(),dt(s,()=>{s===l&&(p.show(s.rows(),s.offset,s.total),C(),V())})}function qt({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:r},o)=>i>0?[]:s==="Age"?[Dt]:r==="name"?[_t]:[{title:s,textOf:({cells:a})=>Ie(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...n==="Namespaced"?[Oe]:[],...e??[_t,Dt]]}function Ie(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function ve(n){T?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=lt.view({of:u.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...u.isTable?{fields:["object"]}:{},limit:1});T={key:n,view:s},h("title").textContent=n,h("yaml").textContent="",at.hidden=!1,dt(s,()=>{let i=s.rows()[0]?.object,r=i?jt(u.isTable?i.object:i):\`\${n} is gone\`;h("yaml").textContent!==r&&(h("yaml").textContent=r)}),h("yaml").focus()}function zt(){T!==void 0&&(T.view[Symbol.dispose](),T=void 0,at.contains(document.activeElement)&&p.focus(),at.hidden=!0)}h("close").addEventListener("click",()=>x({object:""}));addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),E.focus(),E.select()):n.key==="Escape"&&T!==void 0?(x({object:""}),p.focus()):n.key==="Escape"&&n.target===E?p.focus():n.key==="Enter"&&n.target===E&&(X=!0,Wt())});E.addEventListener("input",()=>{clearTimeout(N),X=!1,N=setTimeout(Wt,150),V()});function Wt(){clearTimeout(N),N=void 0,x({filter:E.value},location.hash!==Pt),Pt=location.hash,V()}setInterval(()=>{ot.sample(u&&ut.get(u.name)?.events),h("plot").querySelector("path").setAttribute("d",ot.path(120,24)),h("per_second").textContent=\`\${ot.perSecond} events/s\`,p.refresh()},1e3);async function Ft(n){let t=await fetch(new URL(n,location.href)),e=await t.text();if(t.ok)return JSON.parse(e);let s=e.slice(0,200);try{s=JSON.parse(e).error}catch{}throw new Error(\`\${t.status} \${s}\`)}async function Te(){let[,n]=/\\/clusters\\/([^/]+)\\/$/.exec(location.pathname)??[];if(n===void 0)return;let t=await Ft("../../clusters"),e=h("cluster");e.replaceChildren(...t.map(s=>new Option(s,s,!1,s===decodeURIComponent(n)))),e.addEventListener("change",()=>{let s=d===void 0?"":z({...d,object:""});location.assign(\`../\${encodeURIComponent(e.value)}/\${s}\`)}),h("clusters").hidden=!1}try{await Te(),{collections:v}=await Ft("api"),F.replaceChildren(...v.map(({name:n})=>new Option(n))),F.addEventListener("change",()=>x({collection:F.value,sort:"",object:""})),I.addEventListener("change",()=>x({namespace:I.value})),addEventListener("popstate",()=>ht(st(location.hash,v))),ht(st(location.hash,v))}catch(n){pt(n)}</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-cxW8fzSzOBk+DXyDt2zZS/69Gzzvq5k/nrr1nv26cwM='; style-src 'sha256-/HZpanbmXDHj8hZcouzjyQ0/TUZgPEQsxlTSTAQ61Q8='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
