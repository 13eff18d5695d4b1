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
<script type="module">var p=class{#t=new AbortController;#e;#s=()=>this.abort(this.#n?.reason);constructor(...t){if(this.#e=t,this.#n!==void 0)this.#s();else for(let e of t)e?.addEventListener("abort",this.#s,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#s():t.addEventListener("abort",this.#s,{once:!0}))}get#n(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#s)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var g=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function _(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function A(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,o=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(o.ok)return o;let r=await o.text(),a=r.slice(0,200);try{a=JSON.parse(r).error}catch{}throw new g(\`Cannot subscribe to \${n}: \${o.status} \${a}\`,o.status)}function V(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:o=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+o))*(1+Math.random()*o)}function y(){return performance.now()}var x=2**31-1,T=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=x)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=y()+t;this.#e=setTimeout(()=>this.arm(e-y()),x)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};function L(n,t={}){let{signal:e,persistent:s=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let i,o,r=new Promise((...S)=>[i,o]=S),a,c=Date.now(),f=n>0?Math.trunc(n):0;function l(S){let F=S>2147483647;a=setTimeout(F?()=>l(f-(Date.now()-c)):w,F?2147483647:S),s||Deno.unrefTimer(Number(a))}function w(){e?.removeEventListener("abort",b),i()}function b(){clearTimeout(a),o(e?.reason)}return l(f),e?.addEventListener("abort",b,{once:!0}),r}async function z(n,t={}){let e=y()+n,s=n;for(;s>x;s=e-y())await L(x,t);await L(s,t)}var $=class{#t="";push(t){let e=(this.#t+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#t=e.pop(),e.map(pt)}};function pt(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let o=i.indexOf(":");if(o<1)continue;let r=i.slice(o+(i[o+1]===" "?2:1)),a=i.slice(0,o);a==="event"?t=r:a==="data"?e.push(r):a==="id"&&(s=r)}return{event:t,data:e.join(\`
\`),id:s}}var D=7e4,mt=[408,425,429];async function Z({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:o}=s;for(let r=0;;r++){i.throwIfAborted();let{address:a,headers:c}=n();try{await wt(a,c,s,f=>{r=0,t(f)})}catch(f){if(i.throwIfAborted(),f instanceof g&&f.status<500&&!mt.includes(f.status))throw f;o?.(f)}e(),await z(V(r,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function wt(n,t,e,s){let i=new p(e.signal),o=new T(()=>i.abort(new Error(\`Nothing came from \${n} for \${D/1e3} s\`)));try{o.arm(D);let r={headers:{accept:"text/event-stream",...t},signal:i.signal},{body:a}=await A(n,e,r),c=new $,f=a.pipeThrough(new TextDecoderStream).getReader();for(;;){let{done:l,value:w}=await f.read();if(l)return;o.arm(D);for(let b of c.push(w))s(b)}}finally{o[Symbol.dispose](),i.abort()}}function Q(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}var v=class{#t;#e="new";#s;#n;#r=Promise.resolve();constructor(t){this.#t=t===void 0?[]:[t]}wait(){return new Promise(t=>this.#n=t)}endWith(t){this.#t.push(t)}wake(){this.#n?.()}end(t){if(this.#e!=="over"){this.#e="over",this.#s=t;for(let e of this.#t)e.removeEventListener("abort",this.#o);this.finish(),this.wake()}}next(){let t=this.#r.then(this.#a);return this.#r=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#o=()=>this.end();#a=async()=>{for(this.#e==="new"&&this.#c();this.#i;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#i&&await this.wait()}let t=this.#s;if(this.#s=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#i(){return this.#e==="open"}#c(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#e="open";for(let t of this.#t)t.addEventListener("abort",this.#o,{once:!0});try{this.begin()}catch(t){this.end({error:t})}}};var O=class{#t;#e=new Set;#s;#n=[];#r;#o;constructor(t,e){this.#s=t,this.#t=e}get request(){return this.#s}get hasSynced(){return this.#r!==void 0}get total(){return this.#r?.total??0}get offset(){return this.#r?.offset??0}rows(){return this.#n}replace(t){this.#s={...this.#s,...t},this.#t.onChange()}changes(t={}){return new H(t.signal,this.#e,e=>{this.#o===void 0?e.update=this.#r&&this.#a(this.#r):e.end(this.#o.failure)})}accept({total:t,offset:e,rows:s,changes:i}){let o=s===void 0?{total:t,offset:e,changes:i}:{total:t,offset:e,rows:s,changes:i};this.#r=o,this.#n=Q(this.#n,o);for(let r of this.#e)r.update=r.update===void 0?o:this.#a(o),r.wake()}end(t){if(this.#o===void 0){this.#o={failure:t};for(let e of this.#e)e.end(t);this.#t.onEnd()}}[Symbol.dispose](){this.end()}#a({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#n],changes:[]}}},H=class extends v{update;#t;#e;constructor(t,e,s){super(t),this.#t=e,this.#e=s}poll(){let{update:t}=this;return this.update=void 0,t}begin(){this.#t.add(this),this.#e(this)}finish(){this.#t.delete(this)}};var bt=2e3,j=class{#t;#e;#s;#n=new Map;#r=0;#o;#a=!1;#i=!1;#c=new p;#h;constructor(t,e={}){let{signal:s}=e;this.#t=t,this.#e=e,this.#s=new p(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#s.release(),this.#b(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#o!==void 0}view(t){if(this.#h!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#r),s=new O(t,{onChange:()=>this.#f(),onEnd:()=>{this.#n.delete(e)&&this.#f()}});return this.#n.set(e,s),this.#f(),s}[Symbol.dispose](){this.#b(void 0),this.#s.abort(new DOMException("The subscription was disposed","AbortError"))}#u(){return JSON.stringify(Object.fromEntries([...this.#n].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#s;return Z({request:()=>{let e=\`?views=\${encodeURIComponent(this.#u())}\`;return this.#a=e.length>bt,{address:_(this.#t,\`views\${this.#a?"":e}\`)}},onEvent:e=>this.#w(e),onDown:()=>this.#l(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#d(e,s)})}#d(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#c=new p(e.signal??void 0),s(t,{...e,signal:this.#c.signal})}#w({event:t,data:e}){if(this.#h===void 0){if(t==="stream")this.#l(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#n.get(s.view)?.accept(s)}}}#l(t){this.#o=t,this.#e.onConnected?.(t!==void 0),this.#a&&this.#p()}#f(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#i&&this.#o!==void 0&&this.#h===void 0;){this.#a=!1,this.#i=!0;let t=_(this.#t,\`views/\${this.#o}\`),e=this.#c;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#u(),headers:s,signal:e.signal};await A(t,this.#e,i)}catch(s){if(s instanceof g&&s.status===400)this.#e.onError?.(s);else{let i={cause:s};e.abort(new Error("Cannot change the views of the stream; another one follows",i))}}finally{this.#i=!1}}}#b(t){if(this.#h===void 0){this.#h={failure:t},this.#o!==void 0&&this.#l(void 0);for(let e of[...this.#n.values()])e.end(t)}}};function tt(n,t={}){return new j(n,t)}function et(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*60?\`\${t}s\`:t<10*60?R(t,60,"m",1,"s"):t<3*3600?\`\${Math.floor(t/60)}m\`:t<8*3600?R(t,3600,"h",60,"m"):t<2*86400?\`\${Math.floor(t/3600)}h\`:t<8*86400?R(t,86400,"d",3600,"h"):t<2*31536e3?\`\${Math.floor(t/86400)}d\`:t<8*31536e3?R(t,31536e3,"y",86400,"d"):\`\${Math.floor(t/31536e3)}y\`}function R(n,t,e,s,i){let o=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${o===0?"":\`\${o}\${i}\`}\`}var C=class{#t;#e;#s=[];#n;#r=[];#o=0;#a=0;#i={key:void 0,index:0};#c=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#d()),addEventListener("resize",()=>this.#d()),s.addEventListener("keydown",o=>this.#w(o)),i.addEventListener("click",o=>{let r=[...i.rows].findIndex(a=>a.contains(o.target));r>=0&&this.#l(this.#o+r)})}get#h(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t){this.#s=t,this.#n=void 0,this.#i={key:void 0,index:0},this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(e=>this.#m(e))),this.toTop(),this.show([],0,0)}toTop(){this.#i={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#d()}focus(){this.#f(this.#i.index)}show(t,e,s){this.#r=t,this.#o=e,this.#a=s;let{scroller:i,table:o,before:r,after:a,rows:c}=this.#t,f=document.activeElement===i||c.contains(document.activeElement);o.setAttribute("aria-rowcount",String(s+1)),r.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let l=t.findIndex(({key:w})=>w===this.#i.key);for(l>=0&&(this.#i={key:this.#i.key,index:e+l}),this.#i={...this.#i,index:Math.max(0,Math.min(this.#i.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((w,b)=>this.#u(c.rows[b]??c.insertRow(),w,e+b)),(this.#c||f)&&this.#p()}refresh(){this.show(this.#r,this.#o,this.#a)}#u(t,{object:e},s){let i=s===this.#i.index;for(U(t,"aria-rowindex",String(s+2)),U(t,"aria-selected",String(i)),U(t,"tabindex",i?"0":"-1");t.cells.length>this.#s.length;)t.deleteCell(-1);this.#s.forEach(({textOf:o},r)=>{let a=t.cells[r]??t.insertCell(),c=e===null?"":o(e);a.textContent!==c&&(a.textContent=c,a.title=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[o,r]=e;this.#n=this.#n===o?r:this.#n===r?void 0:o;for(let a of this.#t.heads.cells)a.removeAttribute("aria-sort");this.#n!==void 0&&s.setAttribute("aria-sort",this.#n===o?"ascending":"descending"),this.#e.onSort(this.#n),this.toTop()}),s.append(i),s}#d(){let{scroller:t}=this.#t,e=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((e-30)/30)*30),i=Math.ceil((this.#h+4*30)/30)*30;this.#e.onWindow({offset:s,limit:i})}#w(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#i,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#h,PageUp:e-this.#h,Home:0,End:this.#a-1};if(t.key==="Enter")this.#l(e);else if(Object.hasOwn(s,t.key))this.#f(s[t.key]);else return;t.preventDefault()}#l(t){let e=this.#r[t-this.#o];e!==void 0&&(this.#f(t),this.#e.onOpen(e.key))}#f(t){let e=Math.max(0,Math.min(t,this.#a-1));this.#i={key:this.#r[e-this.#o]?.key,index:e};let{scroller:s}=this.#t,i=e*28,o=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+o&&(s.scrollTop=i-o),this.#c=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#i.index-this.#o];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#c=!1,this.#i={...this.#i,key:this.#r[this.#i.index-this.#o].key},t.focus({preventScroll:!0})}};function U(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var I=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((o,r)=>{let a=(i+r)/59*t;return\`\${r===0?"M":"L"}\${a.toFixed(1)} \${(e-1-o/s*(e-2)).toFixed(1)}\`}).join("")}};function nt(n){return P(n,"").join(\`
\`).trimStart()}function P(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>yt(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>gt(s,n[s],t))]}return typeof n=="string"?Et(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function gt(n,t,e){let[s,...i]=P(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${st.test(n)&&!it.test(n)?n:ot(n)}:\${s}\`,...i]}function yt(n,t){let e=\`\${t}  \`,[s,...i]=P(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var st=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,it=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Mt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Et(n,t){if(st.test(n)&&!it.test(n))return[\` \${n}\`];if(!Mt.test(n))return[\` \${ot(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function ot(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var rt={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},xt={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},at={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?et(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(n){return document.getElementById(n)}var N=h("collection"),M=h("filter"),lt=h("details"),G=h("state"),K=new Map,Y=new I,dt=!1,m,d,ct,E,q=tt(new URL(".",location.href),{onCollection:n=>{K.set(n.name,n),k()},onConnected:n=>{dt=n,k()}}),W=h("scroller"),u=new C({scroller:W,table:W.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:({offset:n,limit:t})=>{d===void 0||d.request.offset===n&&d.request.limit===t||d.replace({offset:n,limit:t})},onSort:n=>d?.replace({sortBy:n===void 0?[]:[n]}),onOpen:At});async function J(n,t){for await(let e of n.changes())t()}function k(){let n=m&&K.get(m.name),t=dt?n?.state??"connecting":"disconnected";G.textContent!==t&&(G.textContent=t),G.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=d??{},i=n!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",h("empty").hidden=!s||e>0}function ut(n){m=n,B(),d?.[Symbol.dispose](),ct?.[Symbol.dispose]();let{name:t,isTable:e,kind:s}=n;document.title=\`\${s}: informer\`,W.querySelector("table").setAttribute("aria-label",t);let i=e?["metadata.name","cells"]:["metadata.name"],o=d=q.view({of:t,search:M.value,fields:i,offset:0,limit:150}),r=ct=e?q.view({of:t,fields:["columns"],limit:1}):void 0;u.reset(r===void 0?ht(n,void 0):[]);let a="";r!==void 0&&J(r,()=>{let c=r.rows()[0]?.object?.columns,f=JSON.stringify(c?.map(l=>l.name));c===void 0||f===a||(a=f,u.reset(ht(n,c)),o.hasSynced&&u.show(o.rows(),o.offset,o.total))}),J(o,()=>{u.show(o.rows(),o.offset,o.total),k()}),k()}function ht({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:o},r)=>i>0?[]:s==="Age"?[at]:o==="name"?[rt]:[{title:s,textOf:({cells:a})=>St(a?.[r]),sortKeys:[\`cells.\${r}\`,\`-cells.\${r}\`]}]);return[...n==="Namespaced"?[xt]:[],...e??[rt,at]]}function St(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function At(n){E?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=q.view({of:m.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...m.isTable?{fields:["object"]}:{},limit:1});E={key:n,view:s},h("title").textContent=n,h("yaml").textContent="",lt.hidden=!1,J(s,()=>{let i=s.rows()[0]?.object,o=i?nt(m.isTable?i.object:i):\`\${n} is gone\`;h("yaml").textContent!==o&&(h("yaml").textContent=o)}),h("yaml").focus()}function B(){E!==void 0&&(E.view[Symbol.dispose](),E=void 0,lt.hidden=!0)}h("close").addEventListener("click",()=>{B(),u.focus()});addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),M.focus(),M.select()):n.key==="Escape"&&E!==void 0?(B(),u.focus()):(n.key==="Escape"||n.key==="Enter")&&n.target===M&&u.focus()});var ft;M.addEventListener("input",()=>{clearTimeout(ft),ft=setTimeout(()=>{d?.replace({search:M.value}),u.toTop()},150)});setInterval(()=>{Y.sample(m&&K.get(m.name)?.events),h("plot").querySelector("path").setAttribute("d",Y.path(120,24)),h("per_second").textContent=\`\${Y.perSecond} events/s\`,u.refresh()},1e3);var{collections:X}=await(await fetch(new URL("api",location.href))).json();N.replaceChildren(...X.map(({name:n})=>new Option(n,n)));N.addEventListener("change",()=>ut(X[N.selectedIndex]));ut(X[N.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-yW2p9JjNmpnT4J+SlUcIS1CRqKMCGplABsMVeg7hOCg='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
