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
[aria-busy=true] #rows {
  opacity: 0.5;
}

#rows tr {
  cursor: pointer;
}
#rows tr[aria-selected=true] {
  background: var(--active);
}
#empty {
  padding: 12px;
  color: var(--muted);
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
<script type="module">function V(e,t={}){let{signal:n,persistent:s=!0}=t;if(n?.aborted)return Promise.reject(n.reason);let i,r,o=new Promise((...E)=>[i,r]=E),a,c=Date.now(),f=e>0?Math.trunc(e):0;function u(E){let k=E>2147483647;a=setTimeout(k?()=>u(f-(Date.now()-c)):m,k?2147483647:E),s||Deno.unrefTimer(Number(a))}function m(){n?.removeEventListener("abort",y),i()}function y(){clearTimeout(a),r(n?.reason)}return u(f),n?.addEventListener("abort",y,{once:!0}),o}var g=class{#t=new AbortController;#e;#n=()=>this.abort(this.#i?.reason);constructor(...t){if(this.#e=t,this.#i!==void 0)this.#n();else for(let n of t)n?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#i(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};function Bt(e){typeof globalThis.reportError=="function"?globalThis.reportError(e):queueMicrotask(()=>{throw e})}function lt(e){try{e()}catch(t){Bt(t)}}function dt(e,t){let{initialMs:n=800,maxMs:s=3e4,factor:i=2,jitter:r=1}=t;return Math.min(n*Math.min(i**e,Number.MAX_VALUE),s/(1+r))*(1+Math.random()*r)}function O(){return performance.now()}var D=2**31-1,L=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=D)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let n=O()+t;this.#e=setTimeout(()=>this.arm(n-O()),D)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};async function pt(e,t={}){let n=O()+e,s=e;for(;s>D;s=n-O())await V(D,t);await V(s,t)}var S=60,M=60*S,$=24*M,R=365*$;function mt(e){let t=Math.floor(e/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*S?\`\${t}s\`:t<10*S?_(t,S,"m",1,"s"):t<3*M?\`\${Math.floor(t/S)}m\`:t<8*M?_(t,M,"h",S,"m"):t<2*$?\`\${Math.floor(t/M)}h\`:t<8*$?_(t,$,"d",M,"h"):t<2*R?\`\${Math.floor(t/$)}d\`:t<8*R?_(t,R,"y",$,"d"):\`\${Math.floor(t/R)}y\`}function _(e,t,n,s,i){let r=Math.floor(e%t/s);return\`\${Math.floor(e/t)}\${n}\${r===0?"":\`\${r}\${i}\`}\`}function xt(e){try{return e instanceof Error?e.message:String(e)}catch{return"a value that has no text"}}function Y(e,t=100){return e.length>t?\`\${e.slice(0,t)}\\u2026\`:e}function Jt(e){return e instanceof Error?e.name:typeof e}var Ht=8;function Et(e){let t=[];for(let n=e;n!==void 0&&t.length<Ht&&!t.includes(n)&&(t.push(n),n instanceof Error);)n=n.cause??(n instanceof AggregateError?n.errors[0]:void 0);return t}function zt(e){let t="";for(let n of Et(e)){let s=Wt(xt(n))||(n instanceof Error?n.name:""),i=n instanceof Error&&n.name==="NotCapable"&&t.includes("--allow-");s===""||i||t.includes(s)||(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`)}return t}function Wt(e){return e.trim().split(/\\s+/).join(" ")}var gt="[redacted]",wt="secret|token|passw(?:or)?d|passphrase|credential|key",Ft=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,yt(\`(?:\${wt})["']? ?[:=] ?\`),yt(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${wt})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function yt(e,t=""){return new RegExp(\`(?<=\${e}")[^"]+|(?<=\${e}')[^']+|(?<=\${e})\${t}[^\\\\s"',;]{4,}\`,"gi")}var Kt=/[\\w+=-]{32,}/g;function Xt(e){return/\\d/.test(e)?/[a-z]/.test(e)&&/[A-Z]/.test(e)||/[a-z\\d]{32}/i.test(e):!1}function Vt(e){let t=e.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let n of Ft)t=t.replaceAll(n,gt);return t.replaceAll(Kt,n=>Xt(n)?gt:n)}var bt=6e4,Yt=20,Zt=600,Qt=1e3,P=class{#t=new Map;#e={beganMs:-1/0,lines:0};#n=0;report(t,n,s=""){let i=O(),r=te(n,s),o=this.#t.get(r);if(o!==void 0&&i-o.writtenMs<bt){o.repeats++;return}if(i-this.#e.beganMs>=bt&&(this.#e={beganMs:i,lines:0}),this.#e.lines>=Yt){this.#n++;return}this.#e.lines++,this.#t.size>=Qt&&this.#t.clear(),this.#t.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let c=Y(Vt(\`\${t}: \${zt(n)}\`),Zt);console.warn(a.length===0?c:\`\${c} (\${a.join("; ")})\`)}};function te(e,t){let n=Et(e).at(-1),s=xt(n),i=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,c)=>a.replaceAll(c,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${Jt(n)}: \${o}\`}var Ie=2n**63n-1n;var T=class{#t;#e;#n="new";#i;#a;#o=Promise.resolve();constructor(t,n){this.#t=t===void 0?[]:[t],this.#e=n}begin(){}finish(){}wait(){return new Promise(t=>this.#a=t)}endWith(t){this.#t.push(t)}wake(){this.#a?.()}end(t){if(this.#n!=="over"){this.#n="over",this.#i=t;for(let n of this.#t)n.removeEventListener("abort",this.#r);this.#e?.delete(this),this.finish(),this.wake()}}next(){let t=this.#o.then(this.#s);return this.#o=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#r=()=>this.end();#s=async()=>{for(this.#n==="new"&&this.#c();this.#h;){let n=this.poll();if(n!==void 0)return{done:!1,value:n};this.#h&&await this.wait()}let t=this.#i;if(this.#i=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#h(){return this.#n==="open"}#c(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#n="open";for(let t of this.#t)t.addEventListener("abort",this.#r,{once:!0});this.#e?.add(this);try{this.#h&&this.begin()}catch(t){this.end({error:t})}}},q=class{#t=new Set;#e;get haveEnded(){return this.#e!==void 0}add(t){this.#e===void 0?this.#t.add(t):t.end(this.#e.failure)}delete(t){this.#t.delete(t)}end(t){this.#e??={failure:t};for(let n of this.#t)n.end(this.#e.failure)}[Symbol.iterator](){return this.#t.values()}};var G=class{#t;#e=new Set;#n;#i=!1;#a=!1;constructor(t){this.#t=t}subscribe=t=>{let n={call:t};return this.#e.add(n),()=>void this.#e.delete(n)};getSnapshot=()=>{let t=this.#n;return t!==void 0&&!this.#i?t:(this.#i=!1,this.#n=t===void 0?this.#t():ee(t,this.#t()))};changed(){this.#i=!0,!(this.#a||this.#e.size===0)&&(this.#a=!0,queueMicrotask(()=>{this.#a=!1;for(let t of[...this.#e])this.#e.has(t)&&lt(t.call)}))}};function ee(e,t){let[n,s]=[e,t],i=!1;for(let r in s)ne(n[r],s[r])?s[r]=n[r]:i=!0;return i?t:e}function ne(e,t){return!Array.isArray(e)||!Array.isArray(t)?e===t:e.length===t.length&&t.every((n,s)=>n===e[s])}function St(){return(...e)=>e.join(" ").split(" ")}var Fe=St()("where sortBy name offset limit signal");function Mt(e,t){if(t.rows!==void 0)return[...t.rows];for(let n of t.changes){if(n.type==="changed"){e[n.to]=n.row;continue}n.type!=="entered"&&e.splice(n.from,1),n.type!=="left"&&e.splice(n.to,0,n.row)}return e}var N=class extends Error{name="RelayError";status;constructor(t,n){super(t),this.status=n}};function se({onError:e},t){let n=new P;return e??(s=>n.report(\`subscription to "\${t}"\`,s))}function $t(e,t){let n=new URL(e,globalThis.location?.href);return new URL(t,n.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function Ot(e,t,n){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(e,{...n,headers:{...await s?.(),...n.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new N(\`Cannot subscribe to \${e}: \${r.status} \${a}\`,r.status)}var Q=class{#t=[];#e="";push(t){let n=this.#e+t.replaceAll("\\r","");this.#e=/(?<!\\n)\\n$|$/.exec(n)[0];let s=n.slice(0,n.length-this.#e.length).split(\`

\`);return this.#t.push(s[0]),s.length===1?[]:(s[0]=this.#t.join(""),this.#t=[s.pop()],s.map(ie))}};function ie(e){let t="message",n=[],s;for(let i of e.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?n.push(o):a==="id"&&(s=o)}return{event:t,data:n.join(\`
\`),id:s}}var Z=7e4,re=[408,425,429];async function oe({request:e,onEvent:t,onDown:n},s){let{signal:i,onError:r}=s;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:c}=e();try{await ae(a,c,s,f=>{o=0,t(f)})}catch(f){if(i.throwIfAborted(),f instanceof N&&f.status<500&&!re.includes(f.status))throw f;r(f)}n(),await pt(dt(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function ae(e,t,n,s){let{signal:i}=n,r=new AbortController,o,a=u=>{o?.cancel(u).catch(()=>{}),r.abort(u)},c=()=>a(i.reason),f=new L(()=>a(new Error(\`Nothing came from \${e} for \${Z/1e3} s\`)));i.addEventListener("abort",c,{once:!0});try{f.arm(Z);let{body:u}=await Ot(e,n,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:r.signal});o=u.getReader(),r.signal.throwIfAborted();let m=new TextDecoder,y=new Q;for(;;){let{done:E,value:k}=await o.read();if(E)return r.signal.throwIfAborted();f.arm(Z);for(let Ut of y.push(m.decode(k,{stream:!0})))s(Ut)}}finally{f[Symbol.dispose](),i.removeEventListener("abort",c),a()}}var tt=class{#t;#e=new q;#n=new G(()=>{let{total:t,offset:n,hasSynced:s}=this;return{rows:[...this.#r],total:t,offset:n,hasSynced:s,isConnected:this.#i,...this.#a}});#i=!1;#a;#o;#r=[];#s;constructor(t,n){this.#o=t,this.#t=n}get request(){return this.#o}get hasSynced(){return this.#s!==void 0}get total(){return this.#s?.total??0}get offset(){return this.#s?.offset??0}rows(){return this.#r}replace(t){this.#o={...this.#o,...t},this.#t(!1)}changes(t={}){return new et(t.signal,this.#e,()=>this.#s&&this.#c(this.#s))}get subscribe(){return this.#n.subscribe}get getSnapshot(){return this.#n.getSnapshot}accept({total:t,offset:n,rows:s,changes:i}){let r=s&&this.#h(s),o=r===void 0?{total:t,offset:n,changes:i}:{total:t,offset:n,rows:r,changes:i};this.#s=o,this.#r=Mt(this.#r,o),this.#n.changed();for(let a of this.#e)a.update=a.update===void 0?o:this.#c(o),a.wake()}connected(t){this.#i=t,this.#n.changed()}end(t){this.#e.haveEnded||(this.#a=t,this.connected(!1),this.#e.end(t),this.#t(!0))}[Symbol.dispose](){this.end()}#h(t){let n=new Map(this.#r.map(s=>[s.key,s]));return t.map(s=>{let i=n.get(s.key);return i!==void 0&&JSON.stringify(i)===JSON.stringify(s)?i:s})}#c({total:t,offset:n}){return{total:t,offset:n,rows:[...this.#r],changes:[]}}},et=class extends T{update;#t;constructor(t,n,s){super(t,n),this.#t=s}begin(){this.update=this.#t()}poll(){let{update:t}=this;return this.update=void 0,t}},ce=2e3,nt=class{#t;#e;#n;#i=new Map;#a=0;#o;#r=!1;#s=!1;#h=new g;#c;constructor(t,n={}){let{signal:s}=n;this.#t=t,this.#e={...n,onError:se(n,t)},this.#n=new g(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#n.release(),this.#w(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#o!==void 0}view(t){if(this.#c!==void 0)throw new Error("Cannot open a view: the subscription has ended");let n=String(++this.#a),s=new tt(t,i=>{(!i||this.#i.delete(n))&&this.#u()});return this.#i.set(n,s),s.connected(this.isConnected),this.#u(),s}[Symbol.dispose](){this.#w(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#i].map(([t,{request:n}])=>[t,n])))}#m(){let{signal:t}=this.#n;return oe({request:()=>{let n=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#r=n.length>ce,{address:$t(this.#t,\`views\${this.#r?"":n}\`)}},onEvent:n=>this.#g(n),onDown:()=>this.#f(void 0)},{...this.#e,signal:t,fetch:(n,s)=>this.#l(n,s)})}#l(t,n){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#h=new g(n.signal??void 0),s(t,{...n,signal:this.#h.signal})}#g({event:t,data:n}){if(this.#c===void 0){if(t==="stream")this.#f(JSON.parse(n).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(n));else if(t==="namespaces")this.#e.onNamespaces?.(JSON.parse(n));else if(t==="view"){let s=JSON.parse(n);this.#i.get(s.view)?.accept(s)}}}#f(t){this.#o=t;for(let n of this.#i.values())n.connected(this.isConnected);this.#e.onConnected?.(t!==void 0),this.#r&&this.#p()}#u(){this.#r||(this.#r=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#r&&!this.#s&&this.#o!==void 0&&this.#c===void 0;){this.#r=!1,this.#s=!0;let t=$t(this.#t,\`views/\${this.#o}\`),n=this.#h;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#d(),headers:s,signal:n.signal};await Ot(t,this.#e,i)}catch(s){if(s instanceof N&&s.status===400)this.#e.onError(s);else{let i={cause:s};n.abort(new Error("Cannot change the views: another stream follows",i))}}finally{this.#s=!1}}}#w(t){if(this.#c===void 0){this.#c={failure:t},this.#o!==void 0&&this.#f(void 0);for(let n of[...this.#i.values()])n.end(t)}}};function At(e,t={}){return new nt(e,t)}var U=class{#t;#e;#n=[];#i="";#a=[];#o=0;#r=0;#s={key:void 0,index:0};#h=!1;constructor(t,n){this.#t=t,this.#e=n;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#l());let r=new ResizeObserver(()=>this.#l());for(let o of[s,t.table])r.observe(o);s.addEventListener("keydown",o=>this.#g(o)),i.addEventListener("pointerover",({target:o})=>{let a=o.closest("td");a!==null&&(a.title=a.textContent)}),i.addEventListener("click",o=>{let a=[...i.rows].findIndex(c=>c.contains(o.target));a>=0&&this.#f(this.#o+a)})}get#c(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t,n,s){this.#n=t,this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(i=>this.#m(i))),this.order(n),this.toTop(),this.#s={key:s,index:0},this.show([],0,0)}order(t){this.#i=t,this.#n.forEach(({sortKeys:n},s)=>{let i=["ascending","descending"][n.indexOf(t)];i===void 0?this.#t.heads.cells[s].removeAttribute("aria-sort"):this.#t.heads.cells[s].setAttribute("aria-sort",i)})}toTop(){this.#s={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#l()}focus(){this.#u(this.#s.index)}show(t,n,s){this.#a=t,this.#o=n,this.#r=s;let{scroller:i,table:r,before:o,after:a,rows:c}=this.#t,f=document.activeElement===i||c.contains(document.activeElement);r.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${n*28}px\`,a.style.height=\`\${Math.max(0,s-n-t.length)*28}px\`;let u=t.findIndex(({key:m})=>m===this.#s.key);for(u>=0&&(this.#s={key:this.#s.key,index:n+u}),this.#s={...this.#s,index:Math.max(0,Math.min(this.#s.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((m,y)=>this.#d(c.rows[y]??c.insertRow(),m,n+y)),(this.#h||f)&&this.#p()}refresh(){this.show(this.#a,this.#o,this.#r)}#d(t,{object:n},s){let i=s===this.#s.index;for(st(t,"aria-rowindex",String(s+2)),st(t,"aria-selected",String(i)),st(t,"tabindex",i?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),c=n===null?"":r(n);a.textContent!==c&&(a.textContent=c)})}#m({title:t,sortKeys:n}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=n;this.#e.onSort(this.#i===r?o:this.#i===o?"":r)}),s.append(i),s}#l(){let{scroller:t}=this.#t,n=t.scrollWidth-t.clientWidth-t.scrollLeft;t.classList.toggle("cut",n>1);let s=Math.floor(t.scrollTop/28),i=Math.max(0,Math.floor((s-20)/20)*20),r=Math.ceil((this.#c+4*20)/20)*20;this.#e.onWindow({offset:i,limit:r})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:n}=this.#s,s={ArrowDown:n+1,ArrowUp:n-1,PageDown:n+this.#c,PageUp:n-this.#c,Home:0,End:this.#r-1};if(t.key==="Enter")this.#f(n);else if(Object.hasOwn(s,t.key))this.#u(s[t.key]);else return;t.preventDefault()}#f(t){let n=this.#a[t-this.#o];n!==void 0&&(this.#u(t),this.#e.onOpen(n.key))}#u(t){let n=Math.max(0,Math.min(t,this.#r-1));this.#s={key:this.#a[n-this.#o]?.key,index:n};let{scroller:s}=this.#t,i=n*28,r=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+r&&(s.scrollTop=i-r),this.#h=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#s.index-this.#o];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#h=!1,this.#s={...this.#s,key:this.#a[this.#s.index-this.#o].key},t.focus({preventScroll:!0})}};function st(e,t,n){e.getAttribute(t)!==n&&e.setAttribute(t,n)}var he={collection:/^/,namespace:/^[\\w.-]{0,253}$/,filter:/^.{0,200}$/,sort:/^(?:-?(?:metadata\\.(?:name|namespace|creationTimestamp)|cells\\.\\d{1,3}))?$/,object:/^[^/]{0,253}(?:\\/[^/]{1,253})?$/};function it(e,t){let n=new URLSearchParams(e.slice(1)),s=r=>{let o=n.get(r)??"";return he[r].test(o)?o:""};return{collection:(t.find(({name:r})=>r===s("collection"))??t[0]).name,namespace:s("namespace"),filter:s("filter"),sort:s("sort"),object:s("object")}}function B(e){let t=Object.entries(e).filter(([,n])=>n!=="");return\`#\${new URLSearchParams(t).toString().replaceAll("%2F","/")}\`}var J=class{#t=[];#e;sample(t){let n=this.#e;this.#e=t,this.#t.push(t===void 0||n===void 0?0:Math.max(0,t-n)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,n){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(n-1-r/s*(n-2)).toFixed(1)}\`}).join("")}};function vt(e){return rt(e,"").join(\`
\`).trimStart()}function rt(e,t){if(Array.isArray(e))return e.length===0?[" []"]:["",...e.flatMap(n=>ue(n,t))];if(typeof e=="object"&&e!==null){let n=Object.keys(e).sort();return n.length===0?[" {}"]:["",...n.flatMap(s=>fe(s,e[s],t))]}return typeof e=="string"?de(e,t):[\` \${JSON.stringify(e)??"null"}\`]}function fe(e,t,n){let[s,...i]=rt(t,Array.isArray(t)?n:\`\${n}  \`);return[\`\${n}\${It.test(e)&&!Tt.test(e)?e:Nt(e)}:\${s}\`,...i]}function ue(e,t){let n=\`\${t}  \`,[s,...i]=rt(e,n);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(n.length)}\`,...i.slice(1)]}var It=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,Tt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,le=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function de(e,t){if(It.test(e)&&!Tt.test(e))return[\` \${e}\`];if(!le.test(e))return[\` \${Nt(e)}\`];let n=e.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[e.endsWith(\`
\`)?" |":" |-",...n.map(i=>i===""?"":s+i)]}function Nt(e){return JSON.stringify(e).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var jt={title:"Name",textOf:({metadata:e})=>e.name,sortKeys:["metadata.name","-metadata.name"]},pe={title:"Namespace",textOf:({metadata:e})=>e.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Ct={title:"Age",textOf:({metadata:{creationTimestamp:e}})=>e?mt(Math.max(0,Date.now()-Date.parse(e))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(e){return document.getElementById(e)}var W=h("collection"),A=h("namespace"),b=h("filter"),at=h("details"),H=h("state"),ft=new Map,Dt=new Map,ot=new J,Lt=!1,C=[],d,l,w,kt,I,Rt,F=!1,v,ct=At(new URL(".",location.href),{onCollection:e=>{ft.set(e.name,e),X()},onNamespaces:e=>{Dt.set(e.name,e.namespaces),Pt()},onConnected:e=>{Lt=e,X()}}),j=h("scroller"),p=new U({scroller:j,table:j.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:({offset:e,limit:t})=>{w===void 0||w.request.offset===e&&w.request.limit===t||w.replace({offset:e,limit:t})},onSort:e=>x({sort:e}),onOpen:e=>x({object:e})});async function ht(e,t){for await(let{rows:n}of e.changes())t(n!==void 0)}function K(e){j.setAttribute("aria-busy",String(e)),!(e||!F)&&(F=!1,p.focus())}function X(){let e=l&&ft.get(l.name),t=Lt?e?.state??"connecting":"disconnected";H.textContent!==t&&(H.textContent=t),H.className=t==="live"?"live":"";let{total:n=0,hasSynced:s=!1}=w??{},i=e?.objects!==void 0&&e.objects!==n?\` of \${e.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${n.toLocaleString("en")}\${i} objects\`:"",h("empty").hidden=!s||n>0}function Pt(){if(d===void 0||l===void 0)return;h("namespaces").hidden=l.scope!=="Namespaced";let e=d.namespace,t=[...new Set([...Dt.get(l.name)??[],...e===""?[]:[e]])].sort();A.dataset.names!==t.join()&&(A.dataset.names=t.join(),A.replaceChildren(new Option("all",""),...t.map(n=>new Option(n)))),A.value=e}function x(e,t=!0){let n={...d,...e},s=B(n);s!==B(d)&&(t?history.pushState(null,"",s):history.replaceState(null,"",s),ut(n))}function ut(e){let t=d;d=e;let n=e.collection!==t?.collection;n?me(C.find(({name:s})=>s===e.collection)):JSON.stringify(z(e))!==JSON.stringify(z(t))&&(K(!0),w.replace(z(e)),p.order(e.sort),p.toTop()),(n||e.object!==t.object)&&(e.object===""?qt():we(e.object)),W.value=e.collection,I===void 0&&(b.value=e.filter),Pt(),document.title=\`\${e.object||l.kind}: informer\`}function z({namespace:e,filter:t,sort:n}){return{namespace:l.scope==="Namespaced"?e:"",search:t,sortBy:n===""?[]:[n]}}function me(e){l=e,qt(),w?.[Symbol.dispose](),kt?.[Symbol.dispose]();let{name:t,isTable:n}=e;j.querySelector("table").setAttribute("aria-label",t);let{sort:s,object:i}=d,r=n?["metadata.name","cells"]:["metadata.name"],o=w=ct.view({of:t,...z(d),fields:r,offset:0,limit:100}),a=kt=ct.view({of:t,fields:[n?"columns":"metadata.name"],limit:1});K(!0),p.reset(n?[]:_t(e,void 0),s,i);let c="";ht(a,()=>{let f=a.rows()[0]?.object?.columns,u=JSON.stringify(f?.map(m=>m.name));f===void 0||u===c||(c=u,p.reset(_t(e,f),d.sort,d.object),o.hasSynced&&p.show(o.rows(),o.offset,o.total))}),ht(o,f=>{p.show(o.rows(),o.offset,o.total),X(),f&&K(!1)}),X()}function _t({scope:e},t){let n=t?.flatMap(({name:s,priority:i,format:r},o)=>i>0?[]:s==="Age"?[Ct]:r==="name"?[jt]:[{title:s,textOf:({cells:a})=>ge(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...e==="Namespaced"?[pe]:[],...n??[jt,Ct]]}function ge(e){return e==null?"":typeof e=="object"?JSON.stringify(e):String(e)}function we(e){v?.view[Symbol.dispose]();let[t,n]=e.split("/").reverse(),s=ct.view({of:l.name,...n===void 0?{}:{namespace:n},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...l.isTable?{fields:["object"]}:{},limit:1});v={key:e,view:s},h("title").textContent=e,h("yaml").textContent="",at.hidden=!1,ht(s,()=>{let i=s.rows()[0]?.object,r=i?vt(l.isTable?i.object:i):\`\${e} is gone\`;h("yaml").textContent!==r&&(h("yaml").textContent=r)}),h("yaml").focus()}function qt(){v!==void 0&&(v.view[Symbol.dispose](),v=void 0,at.contains(document.activeElement)&&p.focus(),at.hidden=!0)}h("close").addEventListener("click",()=>x({object:""}));addEventListener("keydown",e=>{let t=e.target instanceof HTMLInputElement||e.target instanceof HTMLSelectElement;e.key==="/"&&!t?(e.preventDefault(),b.focus(),b.select()):e.key==="Escape"&&v!==void 0?(x({object:""}),p.focus()):e.key==="Escape"&&e.target===b?p.focus():e.key==="Enter"&&e.target===b&&(I!==void 0&&Gt(),F=!0,j.getAttribute("aria-busy")!=="true"&&K(!1))});b.addEventListener("input",()=>{F=!1,clearTimeout(I),I=setTimeout(Gt,150)});function Gt(){clearTimeout(I),I=void 0,x({filter:b.value},location.hash!==Rt),Rt=location.hash}setInterval(()=>{ot.sample(l&&ft.get(l.name)?.events),h("plot").querySelector("path").setAttribute("d",ot.path(120,24)),h("per_second").textContent=\`\${ot.perSecond} events/s\`,p.refresh()},1e3);async function ye(){let[,e]=/\\/clusters\\/([^/]+)\\/$/.exec(location.pathname)??[];if(e===void 0)return;let t=await(await fetch(new URL("../../clusters",location.href))).json(),n=h("cluster");n.replaceChildren(...t.map(s=>new Option(s,s,!1,s===decodeURIComponent(e)))),n.addEventListener("change",()=>{let s=d===void 0?"":B({...d,object:""});location.assign(\`../\${encodeURIComponent(n.value)}/\${s}\`)}),h("clusters").hidden=!1}async function be(){let e=await fetch(new URL("api",location.href)),t=await e.json();if(e.ok)return t.collections;throw H.textContent="refused",h("empty").textContent=t.error??\`The relay answers \${e.status}\`,h("empty").hidden=!1,new Error(t.error)}await ye();C=await be();W.replaceChildren(...C.map(({name:e})=>new Option(e)));W.addEventListener("change",()=>x({collection:W.value,sort:"",object:""}));A.addEventListener("change",()=>x({namespace:A.value}));addEventListener("popstate",()=>ut(it(location.hash,C)));ut(it(location.hash,C));</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-7EhCNomWoDmOnw5UpVwA9fgpBM9AQmQxZ8dBxgX5G04='; style-src 'sha256-8Z0eIp5lZeyBECKaFHUmwAQtgWQB7ewi1GUpZr/irgQ='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
