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
<script type="module">var p=class{#t=new AbortController;#e;#s=()=>this.abort(this.#n?.reason);constructor(...t){if(this.#e=t,this.#n!==void 0)this.#s();else for(let e of t)e?.addEventListener("abort",this.#s,{once:!0})}get#n(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#s)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var y=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function _(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function A(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,o=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(o.ok)return o;let r=await o.text(),a=r.slice(0,200);try{a=JSON.parse(r).error}catch{}throw new y(\`Cannot subscribe to \${n}: \${o.status} \${a}\`,o.status)}function F(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:o=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+o))*(1+Math.random()*o)}function b(){return performance.now()}var x=2**31-1,T=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=x)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=b()+t;this.#e=setTimeout(()=>this.arm(e-b()),x)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};function D(n,t={}){let{signal:e,persistent:s=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let i,o,r=new Promise((...S)=>[i,o]=S),a,c=Date.now(),h=n>0?Math.trunc(n):0;function l(S){let X=S>2147483647;a=setTimeout(X?()=>l(h-(Date.now()-c)):w,X?2147483647:S),s||Deno.unrefTimer(Number(a))}function w(){e?.removeEventListener("abort",g),i()}function g(){clearTimeout(a),o(e?.reason)}return l(h),e?.addEventListener("abort",g,{once:!0}),r}async function V(n,t={}){let e=b()+n,s=n;for(;s>x;s=e-b())await D(x,t);await D(s,t)}var $=class{#t="";push(t){let e=(this.#t+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#t=e.pop(),e.map(ut)}};function ut(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let o=i.indexOf(":");if(o<1)continue;let r=i.slice(o+(i[o+1]===" "?2:1)),a=i.slice(0,o);a==="event"?t=r:a==="data"?e.push(r):a==="id"&&(s=r)}return{event:t,data:e.join(\`
\`),id:s}}var L=7e4,pt=[408,425,429];async function z({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:o}=s;for(let r=0;;r++){i.throwIfAborted();let{address:a,headers:c}=n();try{await mt(a,c,s,h=>{r=0,t(h)})}catch(h){if(i.throwIfAborted(),h instanceof y&&h.status<500&&!pt.includes(h.status))throw h;o?.(h)}e(),await V(F(r,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function mt(n,t,e,s){let i=new p(e.signal),o=new T(()=>i.abort(new Error(\`Nothing came from \${n} for \${L/1e3} s\`)));try{o.arm(L);let r={headers:{accept:"text/event-stream",...t},signal:i.signal},{body:a}=await A(n,e,r),c=new $,h=a.pipeThrough(new TextDecoderStream).getReader();for(;;){let{done:l,value:w}=await h.read();if(l)return;o.arm(L);for(let g of c.push(w))s(g)}}finally{o[Symbol.dispose](),i.abort()}}function Z(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}var R=class{#t;#e="new";#s;#n;constructor(t){this.#t=t}wake(){this.#n?.()}end(t){this.#e!=="over"&&(this.#e="over",this.#s=t,this.#t.signal?.removeEventListener("abort",this.#r),this.#t.onEnd(),this.wake())}async next(){for(this.#e==="new"&&this.#i();this.#e==="open";){let e=this.#t.poll();if(e!==void 0)return{done:!1,value:e};await new Promise(s=>this.#n=s),this.#n=void 0}let t=this.#s;if(this.#s=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#r=()=>this.end({error:this.#t.signal.reason});#i(){let{signal:t,onBegin:e}=this.#t;if(t?.aborted)return this.#r();this.#e="open",t?.addEventListener("abort",this.#r,{once:!0}),e()}};var O=class{#t;#e=new Map;#s;#n=[];#r;#i;constructor(t,e){this.#s=t,this.#t=e}get request(){return this.#s}get hasSynced(){return this.#r!==void 0}get total(){return this.#r?.total??0}get offset(){return this.#r?.offset??0}rows(){return this.#n}replace(t){this.#s={...this.#s,...t},this.#t.onChange()}changes(t={}){let e=new R({poll:()=>{let s=this.#e.get(e);return s!==void 0&&this.#e.set(e,void 0),s},onBegin:()=>{if(this.#i!==void 0)return e.end(this.#i.failure);this.#e.set(e,this.#r&&this.#a(this.#r))},onEnd:()=>this.#e.delete(e),signal:t.signal});return e}accept({total:t,offset:e,rows:s,changes:i}){let o=s===void 0?{total:t,offset:e,changes:i}:{total:t,offset:e,rows:s,changes:i};this.#r=o,this.#n=Z(this.#n,o);for(let[r,a]of this.#e)this.#e.set(r,a===void 0?o:this.#a(o)),r.wake()}end(t){if(this.#i===void 0){this.#i={failure:t};for(let e of[...this.#e.keys()])e.end(t);this.#t.onEnd()}}[Symbol.dispose](){this.end()}#a({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#n],changes:[]}}};var wt=2e3,H=class{#t;#e;#s;#n=new Map;#r=0;#i;#a=!1;#o=!1;#f=new p;#c;constructor(t,e={}){let{signal:s}=e;this.#t=t,this.#e=e,this.#s=new p(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#s.release(),this.#g({failure:{error:i}})})}get isConnected(){return this.#i!==void 0}view(t){if(this.#c!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#r),s=new O(t,{onChange:()=>this.#h(),onEnd:()=>{this.#n.delete(e)&&this.#h()}});return this.#n.set(e,s),this.#h(),s}[Symbol.dispose](){this.#g({failure:void 0}),this.#s.abort(new DOMException("The subscription was disposed","AbortError"))}#u(){return JSON.stringify(Object.fromEntries([...this.#n].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#s;return z({request:()=>{let e=\`?views=\${encodeURIComponent(this.#u())}\`;return this.#a=e.length>wt,{address:_(this.#t,\`views\${this.#a?"":e}\`)}},onEvent:e=>this.#w(e),onDown:()=>this.#l(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#d(e,s)})}#d(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#f=new p(e.signal??void 0),s(t,{...e,signal:this.#f.signal})}#w({event:t,data:e}){if(this.#c===void 0){if(t==="stream")this.#l(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#n.get(s.view)?.accept(s)}}}#l(t){this.#i=t,this.#e.onConnected?.(t!==void 0),this.#a&&this.#p()}#h(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#o&&this.#i!==void 0&&this.#c===void 0;){this.#a=!1,this.#o=!0;let t=_(this.#t,\`views/\${this.#i}\`),e=this.#f;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#u(),headers:s,signal:e.signal};await A(t,this.#e,i)}catch(s){if(s instanceof y&&s.status===400)this.#e.onError?.(s);else{let i={cause:s};e.abort(new Error("Cannot change the views of the stream; another one follows",i))}}finally{this.#o=!1}}}#g(t){if(this.#c===void 0){this.#c=t,this.#i!==void 0&&this.#l(void 0);for(let e of[...this.#n.values()])e.end(t.failure)}}};function Q(n,t={}){return new H(n,t)}function tt(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*60?\`\${t}s\`:t<10*60?v(t,60,"m",1,"s"):t<3*3600?\`\${Math.floor(t/60)}m\`:t<8*3600?v(t,3600,"h",60,"m"):t<2*86400?\`\${Math.floor(t/3600)}h\`:t<8*86400?v(t,86400,"d",3600,"h"):t<2*31536e3?\`\${Math.floor(t/86400)}d\`:t<8*31536e3?v(t,31536e3,"y",86400,"d"):\`\${Math.floor(t/31536e3)}y\`}function v(n,t,e,s,i){let o=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${o===0?"":\`\${o}\${i}\`}\`}var C=class{#t;#e;#s=[];#n;#r=[];#i=0;#a=0;#o={key:void 0,index:0};#f=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#d()),addEventListener("resize",()=>this.#d()),s.addEventListener("keydown",o=>this.#w(o)),i.addEventListener("click",o=>{let r=[...i.rows].findIndex(a=>a.contains(o.target));r>=0&&this.#l(this.#i+r)})}get#c(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t){this.#s=t,this.#n=void 0,this.#o={key:void 0,index:0},this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(e=>this.#m(e))),this.toTop(),this.show([],0,0)}toTop(){this.#o={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#d()}focus(){this.#h(this.#o.index)}show(t,e,s){this.#r=t,this.#i=e,this.#a=s;let{scroller:i,table:o,before:r,after:a,rows:c}=this.#t,h=document.activeElement===i||c.contains(document.activeElement);o.setAttribute("aria-rowcount",String(s+1)),r.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let l=t.findIndex(({key:w})=>w===this.#o.key);for(l>=0&&(this.#o={key:this.#o.key,index:e+l}),this.#o={...this.#o,index:Math.max(0,Math.min(this.#o.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((w,g)=>this.#u(c.rows[g]??c.insertRow(),w,e+g)),(this.#f||h)&&this.#p()}refresh(){this.show(this.#r,this.#i,this.#a)}#u(t,{object:e},s){let i=s===this.#o.index;for(U(t,"aria-rowindex",String(s+2)),U(t,"aria-selected",String(i)),U(t,"tabindex",i?"0":"-1");t.cells.length>this.#s.length;)t.deleteCell(-1);this.#s.forEach(({textOf:o},r)=>{let a=t.cells[r]??t.insertCell(),c=e===null?"":o(e);a.textContent!==c&&(a.textContent=c,a.title=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[o,r]=e;this.#n=this.#n===o?r:this.#n===r?void 0:o;for(let a of this.#t.heads.cells)a.removeAttribute("aria-sort");this.#n!==void 0&&s.setAttribute("aria-sort",this.#n===o?"ascending":"descending"),this.#e.onSort(this.#n),this.toTop()}),s.append(i),s}#d(){let{scroller:t}=this.#t,e=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((e-30)/30)*30),i=Math.ceil((this.#c+4*30)/30)*30;this.#e.onWindow({offset:s,limit:i})}#w(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#o,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#c,PageUp:e-this.#c,Home:0,End:this.#a-1};if(t.key==="Enter")this.#l(e);else if(Object.hasOwn(s,t.key))this.#h(s[t.key]);else return;t.preventDefault()}#l(t){let e=this.#r[t-this.#i];e!==void 0&&(this.#h(t),this.#e.onOpen(e.key))}#h(t){let e=Math.max(0,Math.min(t,this.#a-1));this.#o={key:this.#r[e-this.#i]?.key,index:e};let{scroller:s}=this.#t,i=e*28,o=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+o&&(s.scrollTop=i-o),this.#f=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#o.index-this.#i];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#f=!1,this.#o={...this.#o,key:this.#r[this.#o.index-this.#i].key},t.focus({preventScroll:!0})}};function U(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var I=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((o,r)=>{let a=(i+r)/59*t;return\`\${r===0?"M":"L"}\${a.toFixed(1)} \${(e-1-o/s*(e-2)).toFixed(1)}\`}).join("")}};function et(n){return j(n,"").join(\`
\`).trimStart()}function j(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>yt(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>gt(s,n[s],t))]}return typeof n=="string"?Mt(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function gt(n,t,e){let[s,...i]=j(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${nt.test(n)&&!st.test(n)?n:it(n)}:\${s}\`,...i]}function yt(n,t){let e=\`\${t}  \`,[s,...i]=j(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var nt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,st=/^(?:null|true|false|yes|no|on|off|y|n)$/i,bt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Mt(n,t){if(nt.test(n)&&!st.test(n))return[\` \${n}\`];if(!bt.test(n))return[\` \${it(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function it(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var ot={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Et={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},rt={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?tt(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function f(n){return document.getElementById(n)}var N=f("collection"),M=f("filter"),ht=f("details"),G=f("state"),J=new Map,P=new I,lt=!1,m,d,at,E,Y=Q(new URL(".",location.href),{onCollection:n=>{J.set(n.name,n),k()},onConnected:n=>{lt=n,k()}}),q=f("scroller"),u=new C({scroller:q,table:q.querySelector("table"),heads:f("heads"),before:f("before"),rows:f("rows"),after:f("after")},{onWindow:({offset:n,limit:t})=>{d===void 0||d.request.offset===n&&d.request.limit===t||d.replace({offset:n,limit:t})},onSort:n=>d?.replace({sortBy:n===void 0?[]:[n]}),onOpen:St});async function B(n,t){for await(let e of n.changes())t()}function k(){let n=m&&J.get(m.name),t=lt?n?.state??"connecting":"disconnected";G.textContent!==t&&(G.textContent=t),G.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=d??{},i=n!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";f("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",f("empty").hidden=!s||e>0}function dt(n){m=n,K(),d?.[Symbol.dispose](),at?.[Symbol.dispose]();let{name:t,isTable:e,kind:s}=n;document.title=\`\${s}: informer\`,q.querySelector("table").setAttribute("aria-label",t);let i=e?["metadata.name","cells"]:["metadata.name"],o=d=Y.view({of:t,search:M.value,fields:i,offset:0,limit:150}),r=at=e?Y.view({of:t,fields:["columns"],limit:1}):void 0;u.reset(r===void 0?ct(n,void 0):[]);let a="";r!==void 0&&B(r,()=>{let c=r.rows()[0]?.object?.columns,h=JSON.stringify(c?.map(l=>l.name));c===void 0||h===a||(a=h,u.reset(ct(n,c)),o.hasSynced&&u.show(o.rows(),o.offset,o.total))}),B(o,()=>{u.show(o.rows(),o.offset,o.total),k()}),k()}function ct({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:o},r)=>i>0?[]:s==="Age"?[rt]:o==="name"?[ot]:[{title:s,textOf:({cells:a})=>xt(a?.[r]),sortKeys:[\`cells.\${r}\`,\`-cells.\${r}\`]}]);return[...n==="Namespaced"?[Et]:[],...e??[ot,rt]]}function xt(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function St(n){E?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=Y.view({of:m.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...m.isTable?{fields:["object"]}:{},limit:1});E={key:n,view:s},f("title").textContent=n,f("yaml").textContent="",ht.hidden=!1,B(s,()=>{let i=s.rows()[0]?.object,o=i?et(m.isTable?i.object:i):\`\${n} is gone\`;f("yaml").textContent!==o&&(f("yaml").textContent=o)}),f("yaml").focus()}function K(){E!==void 0&&(E.view[Symbol.dispose](),E=void 0,ht.hidden=!0)}f("close").addEventListener("click",()=>{K(),u.focus()});addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),M.focus(),M.select()):n.key==="Escape"&&E!==void 0?(K(),u.focus()):(n.key==="Escape"||n.key==="Enter")&&n.target===M&&u.focus()});var ft;M.addEventListener("input",()=>{clearTimeout(ft),ft=setTimeout(()=>{d?.replace({search:M.value}),u.toTop()},150)});setInterval(()=>{P.sample(m&&J.get(m.name)?.events),f("plot").querySelector("path").setAttribute("d",P.path(120,24)),f("per_second").textContent=\`\${P.perSecond} events/s\`,u.refresh()},1e3);var{collections:W}=await(await fetch(new URL("api",location.href))).json();N.replaceChildren(...W.map(({name:n})=>new Option(n,n)));N.addEventListener("change",()=>dt(W[N.selectedIndex]));dt(W[N.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-m5UBkuEVcJWAPZ/d2KAMA0iaynVkkgNcq2MQnBDnW60='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
