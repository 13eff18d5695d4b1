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
  max-width: 60ch;
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
#empty {
  padding: 12px;
  color: var(--muted);
}
aside {
  width: min(46rem, 50%);
  overflow: hidden;
  display: flex;
  flex-flow: row wrap;
  align-content: flex-start;
  gap: 8px;
  padding: 10px 12px;
  border-left: 1px solid var(--line);
}
aside h2 {
  margin: 0;
  flex: 1;
  font-size: 15px;
  overflow-wrap: anywhere;
}
aside pre {
  margin: 0;
  width: 100%;
  height: calc(100% - 44px);
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
<label>Collection <select id="collection"></select></label>
<label>Filter <input id="filter" type="search" placeholder="words, in any order" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></label>
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
<script type="module">function X(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}function F(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:o=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+o))*(1+Math.random()*o)}function b(){return performance.now()}var x=2**31-1,S=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=x)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=b()+t;this.#e=setTimeout(()=>this.arm(e-b()),x)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};function I(n,t={}){let{signal:e,persistent:s=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let i,o,r=new Promise((...g)=>[i,o]=g),a,c=Date.now(),h=n>0?Math.trunc(n):0;function l(g){let W=g>2147483647;a=setTimeout(W?()=>l(h-(Date.now()-c)):m,W?2147483647:g),s||Deno.unrefTimer(Number(a))}function m(){e?.removeEventListener("abort",w),i()}function w(){clearTimeout(a),o(e?.reason)}return l(h),e?.addEventListener("abort",w,{once:!0}),r}async function V(n,t={}){let e=b()+n,s=n;for(;s>x;s=e-b())await I(x,t);await I(s,t)}var A=class{#t="";push(t){let e=(this.#t+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#t=e.pop(),e.map(dt)}};function dt(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let o=i.indexOf(":");if(o<1)continue;let r=i.slice(o+(i[o+1]===" "?2:1)),a=i.slice(0,o);a==="event"?t=r:a==="data"?e.push(r):a==="id"&&(s=r)}return{event:t,data:e.join(\`
\`),id:s}}var N=7e4,ut=[408,425,429],y=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function k(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function L(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,o=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(o.ok)return o;let r=await o.text(),a=r.slice(0,200);try{a=JSON.parse(r).error}catch{}throw new y(\`Cannot subscribe to \${n}: \${o.status} \${a}\`,o.status)}async function z({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:o}=s;for(let r=0;;r++){i.throwIfAborted();let{address:a,headers:c}=n();try{await pt(a,c,s,h=>{r=0,t(h)})}catch(h){if(i.throwIfAborted(),h instanceof y&&h.status<500&&!ut.includes(h.status))throw h;o?.(h)}e(),await V(F(r,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function pt(n,t,e,s){let i=new AbortController,o=()=>i.abort(e.signal.reason),r=new S(()=>i.abort(new Error(\`Nothing came from \${n} for \${N/1e3} s\`)));e.signal.addEventListener("abort",o);try{r.arm(N);let a={headers:{accept:"text/event-stream",...t},signal:i.signal},{body:c}=await L(n,e,a),h=new A,l=c.pipeThrough(new TextDecoderStream).getReader();for(;;){let{done:m,value:w}=await l.read();if(m)return;r.arm(N);for(let g of h.push(w))s(g)}}finally{r[Symbol.dispose](),e.signal.removeEventListener("abort",o),i.abort()}}var T=class{#t;#e="new";#r;#n;constructor(t){this.#t=t}wake(){this.#n?.()}end(t){this.#e!=="over"&&(this.#e="over",this.#r=t,this.#t.signal?.removeEventListener("abort",this.#o),this.#t.onEnd(),this.wake())}async next(){for(this.#e==="new"&&this.#s();this.#e==="open";){let e=this.#t.poll();if(e!==void 0)return{done:!1,value:e};await new Promise(s=>this.#n=s),this.#n=void 0}let t=this.#r;if(this.#r=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#o=()=>this.end({error:this.#t.signal.reason});#s(){let{signal:t,onBegin:e}=this.#t;if(t?.aborted)return this.#o();this.#e="open",t?.addEventListener("abort",this.#o,{once:!0}),e()}};var mt=2e3,_=class{#t;#e;#r=new AbortController;#n=new Map;#o=0;#s;#a=!1;#i=!1;#h=new AbortController;#c;constructor(t,e={}){let{signal:s}=e;this.#t=t,this.#e=e;let i=()=>this.#r.abort(s.reason);s?.aborted?i():s?.addEventListener("abort",i,{once:!0}),Promise.resolve().then(()=>this.#m()).catch(o=>{s?.removeEventListener("abort",i),this.#g({failure:{error:o}})})}get isConnected(){return this.#s!==void 0}view(t){if(this.#c!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#o),s=new D(t,{onChange:()=>this.#f(),onEnd:()=>{this.#n.delete(e)&&this.#f()}});return this.#n.set(e,s),this.#f(),s}[Symbol.dispose](){this.#g({failure:void 0}),this.#r.abort(new DOMException("The subscription was disposed","AbortError"))}#u(){return JSON.stringify(Object.fromEntries([...this.#n].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#r;return z({request:()=>{let e=\`?views=\${encodeURIComponent(this.#u())}\`;return this.#a=e.length>mt,{address:k(this.#t,\`views\${this.#a?"":e}\`)}},onEvent:e=>this.#w(e),onDown:()=>this.#l(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#d(e,s)})}#d(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e,i=this.#h=new AbortController;return e.signal?.addEventListener("abort",()=>i.abort(e.signal.reason),{once:!0}),s(t,{...e,signal:i.signal})}#w({event:t,data:e}){if(this.#c===void 0){if(t==="stream")this.#l(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#n.get(s.view)?.accept(s)}}}#l(t){this.#s=t,this.#e.onConnected?.(t!==void 0),this.#a&&this.#p()}#f(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#i&&this.#s!==void 0&&this.#c===void 0;){this.#a=!1,this.#i=!0;let t=k(this.#t,\`views/\${this.#s}\`),e=this.#h;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#u(),headers:s,signal:e.signal};await L(t,this.#e,i)}catch(s){s instanceof y&&s.status===400?this.#e.onError?.(s):e.abort(new Error("Cannot change the views of the stream; another one follows",{cause:s}))}finally{this.#i=!1}}}#g(t){if(this.#c===void 0){this.#c=t,this.#s!==void 0&&this.#l(void 0);for(let e of[...this.#n.values()])e.end(t.failure)}}},D=class{#t;#e=new Map;#r;#n=[];#o;#s;constructor(t,e){this.#r=t,this.#t=e}get request(){return this.#r}get hasSynced(){return this.#o!==void 0}get total(){return this.#o?.total??0}get offset(){return this.#o?.offset??0}rows(){return this.#n}replace(t){this.#r={...this.#r,...t},this.#t.onChange()}changes(t={}){let e=new T({poll:()=>{let s=this.#e.get(e);return s!==void 0&&this.#e.set(e,void 0),s},onBegin:()=>{if(this.#s!==void 0)return e.end(this.#s.failure);this.#e.set(e,this.#o&&this.#a(this.#o))},onEnd:()=>this.#e.delete(e),signal:t.signal});return e}accept({total:t,offset:e,rows:s,changes:i}){let o=s===void 0?{total:t,offset:e,changes:i}:{total:t,offset:e,rows:s,changes:i};this.#o=o,this.#n=X(this.#n,o);for(let[r,a]of this.#e)this.#e.set(r,a===void 0?o:this.#a(o)),r.wake()}end(t){if(this.#s===void 0){this.#s={failure:t};for(let e of[...this.#e.keys()])e.end(t);this.#t.onEnd()}}[Symbol.dispose](){this.end()}#a({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#n],changes:[]}}};function Z(n,t={}){return new _(n,t)}function Q(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*60?\`\${t}s\`:t<10*60?$(t,60,"m",1,"s"):t<3*3600?\`\${Math.floor(t/60)}m\`:t<8*3600?$(t,3600,"h",60,"m"):t<2*86400?\`\${Math.floor(t/3600)}h\`:t<8*86400?$(t,86400,"d",3600,"h"):t<2*31536e3?\`\${Math.floor(t/86400)}d\`:t<8*31536e3?$(t,31536e3,"y",86400,"d"):\`\${Math.floor(t/31536e3)}y\`}function $(n,t,e,s,i){let o=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${o===0?"":\`\${o}\${i}\`}\`}var v=class{#t;#e;#r=[];#n;#o=[];#s=0;#a=0;#i={key:void 0,index:0};#h=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#d()),addEventListener("resize",()=>this.#d()),s.addEventListener("keydown",o=>this.#w(o)),i.addEventListener("click",o=>{let r=[...i.rows].findIndex(a=>a.contains(o.target));r>=0&&this.#l(this.#s+r)})}get#c(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t){this.#r=t,this.#n=void 0,this.#i={key:void 0,index:0},this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(e=>this.#m(e))),this.toTop(),this.show([],0,0)}toTop(){this.#i={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#d()}focus(){this.#f(this.#i.index)}show(t,e,s){this.#o=t,this.#s=e,this.#a=s;let{scroller:i,table:o,before:r,after:a,rows:c}=this.#t,h=document.activeElement===i||c.contains(document.activeElement);o.setAttribute("aria-rowcount",String(s+1)),r.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let l=t.findIndex(({key:m})=>m===this.#i.key);for(l>=0&&(this.#i={key:this.#i.key,index:e+l}),this.#i={...this.#i,index:Math.max(0,Math.min(this.#i.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((m,w)=>this.#u(c.rows[w]??c.insertRow(),m,e+w)),(this.#h||h)&&this.#p()}refresh(){this.show(this.#o,this.#s,this.#a)}#u(t,{object:e},s){let i=s===this.#i.index;for(H(t,"aria-rowindex",String(s+2)),H(t,"aria-selected",String(i)),H(t,"tabindex",i?"0":"-1");t.cells.length>this.#r.length;)t.deleteCell(-1);this.#r.forEach(({textOf:o},r)=>{let a=t.cells[r]??t.insertCell(),c=e===null?"":o(e);a.textContent!==c&&(a.textContent=c,a.title=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[o,r]=e;this.#n=this.#n===o?r:this.#n===r?void 0:o;for(let a of this.#t.heads.cells)a.removeAttribute("aria-sort");this.#n!==void 0&&s.setAttribute("aria-sort",this.#n===o?"ascending":"descending"),this.#e.onSort(this.#n),this.toTop()}),s.append(i),s}#d(){let{scroller:t}=this.#t,e=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((e-30)/30)*30),i=Math.ceil((this.#c+4*30)/30)*30;this.#e.onWindow({offset:s,limit:i})}#w(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#i,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#c,PageUp:e-this.#c,Home:0,End:this.#a-1};if(t.key==="Enter")this.#l(e);else if(Object.hasOwn(s,t.key))this.#f(s[t.key]);else return;t.preventDefault()}#l(t){let e=this.#o[t-this.#s];e!==void 0&&(this.#f(t),this.#e.onOpen(e.key))}#f(t){let e=Math.max(0,Math.min(t,this.#a-1));this.#i={key:this.#o[e-this.#s]?.key,index:e};let{scroller:s}=this.#t,i=e*28,o=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+o&&(s.scrollTop=i-o),this.#h=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#i.index-this.#s];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#h=!1,this.#i={...this.#i,key:this.#o[this.#i.index-this.#s].key},t.focus({preventScroll:!0})}};function H(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var O=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((o,r)=>{let a=(i+r)/59*t;return\`\${r===0?"M":"L"}\${a.toFixed(1)} \${(e-1-o/s*(e-2)).toFixed(1)}\`}).join("")}};function tt(n){return U(n,"").join(\`
\`).trimStart()}function U(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>gt(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>wt(s,n[s],t))]}return typeof n=="string"?yt(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function wt(n,t,e){let[s,...i]=U(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${et.test(n)&&!nt.test(n)?n:st(n)}:\${s}\`,...i]}function gt(n,t){let e=\`\${t}  \`,[s,...i]=U(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var et=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,nt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,bt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function yt(n,t){if(et.test(n)&&!nt.test(n))return[\` \${n}\`];if(!bt.test(n))return[\` \${st(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function st(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var it={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Mt={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},ot={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?Q(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function f(n){return document.getElementById(n)}var R=f("collection"),M=f("filter"),ft=f("details"),j=f("state"),B=new Map,G=new O,ht=!1,p,d,rt,E,P=Z(new URL(".",location.href),{onCollection:n=>{B.set(n.name,n),C()},onConnected:n=>{ht=n,C()}}),Y=f("scroller"),u=new v({scroller:Y,table:Y.querySelector("table"),heads:f("heads"),before:f("before"),rows:f("rows"),after:f("after")},{onWindow:({offset:n,limit:t})=>{d===void 0||d.request.offset===n&&d.request.limit===t||d.replace({offset:n,limit:t})},onSort:n=>d?.replace({sortBy:n===void 0?[]:[n]}),onOpen:xt});async function q(n,t){for await(let e of n.changes())t()}function C(){let n=p&&B.get(p.name),t=ht?n?.state??"connecting":"disconnected";j.textContent!==t&&(j.textContent=t),j.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=d??{},i=n!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";f("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",f("empty").hidden=!s||e>0}function lt(n){p=n,J(),d?.[Symbol.dispose](),rt?.[Symbol.dispose]();let{name:t,isTable:e,kind:s}=n;document.title=\`\${s}: informer\`,Y.querySelector("table").setAttribute("aria-label",t);let i=e?["metadata.name","cells"]:["metadata.name"],o=d=P.view({of:t,search:M.value,fields:i,offset:0,limit:150}),r=rt=e?P.view({of:t,fields:["columns"],limit:1}):void 0;u.reset(r===void 0?at(n,void 0):[]);let a="";r!==void 0&&q(r,()=>{let c=r.rows()[0]?.object?.columns,h=JSON.stringify(c?.map(l=>l.name));c===void 0||h===a||(a=h,u.reset(at(n,c)),o.hasSynced&&u.show(o.rows(),o.offset,o.total))}),q(o,()=>{u.show(o.rows(),o.offset,o.total),C()}),C()}function at({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:o},r)=>i>0?[]:s==="Age"?[ot]:o==="name"?[it]:[{title:s,textOf:({cells:a})=>Et(a?.[r]),sortKeys:[\`cells.\${r}\`,\`-cells.\${r}\`]}]);return[...n==="Namespaced"?[Mt]:[],...e??[it,ot]]}function Et(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function xt(n){E?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=P.view({of:p.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...p.isTable?{fields:["object"]}:{},limit:1});E={key:n,view:s},f("title").textContent=n,f("yaml").textContent="",ft.hidden=!1,q(s,()=>{let i=s.rows()[0]?.object,o=i?tt(p.isTable?i.object:i):\`\${n} is gone\`;f("yaml").textContent!==o&&(f("yaml").textContent=o)}),f("yaml").focus()}function J(){E!==void 0&&(E.view[Symbol.dispose](),E=void 0,ft.hidden=!0)}f("close").addEventListener("click",()=>{J(),u.focus()});addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),M.focus(),M.select()):n.key==="Escape"&&E!==void 0?(J(),u.focus()):(n.key==="Escape"||n.key==="Enter")&&n.target===M&&u.focus()});var ct;M.addEventListener("input",()=>{clearTimeout(ct),ct=setTimeout(()=>{d?.replace({search:M.value}),u.toTop()},150)});setInterval(()=>{G.sample(p&&B.get(p.name)?.events),f("plot").querySelector("path").setAttribute("d",G.path(120,24)),f("per_second").textContent=\`\${G.perSecond} events/s\`,u.refresh()},1e3);var{collections:K}=await(await fetch(new URL("api",location.href))).json();R.replaceChildren(...K.map(({name:n})=>new Option(n,n)));R.addEventListener("change",()=>lt(K[R.selectedIndex]));lt(K[R.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-de4mqv9jgycs5gtUXwp8equcQugJk648AhctcTeO4Wg='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
