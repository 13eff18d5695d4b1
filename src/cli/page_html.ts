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
<script type="module">var w=class{#t=new AbortController;#e;#s=()=>this.abort(this.#n?.reason);constructor(...t){if(this.#e=t,this.#n!==void 0)this.#s();else for(let e of t)e?.addEventListener("abort",this.#s,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#s():t.addEventListener("abort",this.#s,{once:!0}))}get#n(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#s)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var v=class{#t;#e;#s="new";#n;#o;#r=Promise.resolve();constructor(t,e){this.#t=t===void 0?[]:[t],this.#e=e}begin(){}finish(){}wait(){return new Promise(t=>this.#o=t)}endWith(t){this.#t.push(t)}wake(){this.#o?.()}end(t){if(this.#s!=="over"){this.#s="over",this.#n=t;for(let e of this.#t)e.removeEventListener("abort",this.#a);this.#e?.delete(this),this.finish(),this.wake()}}next(){let t=this.#r.then(this.#i);return this.#r=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#a=()=>this.end();#i=async()=>{for(this.#s==="new"&&this.#f();this.#h;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#h&&await this.wait()}let t=this.#n;if(this.#n=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#h(){return this.#s==="open"}#f(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#s="open";for(let t of this.#t)t.addEventListener("abort",this.#a,{once:!0});this.#e?.add(this);try{this.#h&&this.begin()}catch(t){this.end({error:t})}}},I=class{#t=new Set;#e;get haveEnded(){return this.#e!==void 0}add(t){this.#e===void 0?this.#t.add(t):t.end(this.#e.failure)}delete(t){this.#t.delete(t)}end(t){this.#e??={failure:t};for(let e of this.#t)e.end(this.#e.failure)}[Symbol.iterator](){return this.#t.values()}};function q(s,t={}){let{signal:e,persistent:n=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let i,r,o=new Promise((...b)=>[i,r]=b),a,h=Date.now(),f=s>0?Math.trunc(s):0;function u(b){let O=b>2147483647;a=setTimeout(O?()=>u(f-(Date.now()-h)):m,O?2147483647:b),n||Deno.unrefTimer(Number(a))}function m(){e?.removeEventListener("abort",g),i()}function g(){clearTimeout(a),r(e?.reason)}return u(f),e?.addEventListener("abort",g,{once:!0}),o}function st(s,t){let{initialMs:e=800,maxMs:n=3e4,factor:i=2,jitter:r=1}=t;return Math.min(e*Math.min(i**s,Number.MAX_VALUE),n/(1+r))*(1+Math.random()*r)}function M(){return performance.now()}var R=2**31-1,k=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=R)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=M()+t;this.#e=setTimeout(()=>this.arm(e-M()),R)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};async function nt(s,t={}){let e=M()+s,n=s;for(;n>R;n=e-M())await q(R,t);await q(n,t)}var y=60,x=60*y,E=24*x,T=365*E;function it(s){let t=Math.floor(s/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*y?\`\${t}s\`:t<10*y?N(t,y,"m",1,"s"):t<3*x?\`\${Math.floor(t/y)}m\`:t<8*x?N(t,x,"h",y,"m"):t<2*E?\`\${Math.floor(t/x)}h\`:t<8*E?N(t,E,"d",x,"h"):t<2*T?\`\${Math.floor(t/E)}d\`:t<8*T?N(t,T,"y",E,"d"):\`\${Math.floor(t/T)}y\`}function N(s,t,e,n,i){let r=Math.floor(s%t/n);return\`\${Math.floor(s/t)}\${e}\${r===0?"":\`\${r}\${i}\`}\`}var ne=2n**63n-1n;function rt(s,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){s[e.to]=e.row;continue}e.type!=="entered"&&s.splice(e.from,1),e.type!=="left"&&s.splice(e.to,0,e.row)}return s}function ut(s){try{return s instanceof Error?s.message:String(s)}catch{return"a value that has no text"}}function Tt(s){return s instanceof Error?s.name:typeof s}var Nt=8;function lt(s){let t=[];for(let e=s;e!==void 0&&t.length<Nt&&!t.includes(e)&&(t.push(e),e instanceof Error);)e=e.cause??(e instanceof AggregateError?e.errors[0]:void 0);return t}function Rt(s){let t="";for(let e of lt(s)){let n=kt(ut(e))||(e instanceof Error?e.name:""),i=e instanceof Error&&e.name==="NotCapable"&&t.includes("--allow-");n===""||i||t.includes(n)||(t=t===""?n:\`\${t.replace(/[.:;]$/,"")}: \${n}\`)}return t}function kt(s){return s.trim().split(/\\s+/).join(" ")}var ot="[redacted]",at="secret|token|passw(?:or)?d|passphrase|credential|key",Ct=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,ht(\`(?:\${at})["']? ?[:=] ?\`),ht(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${at})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function ht(s,t=""){return new RegExp(\`(?<=\${s}")[^"]+|(?<=\${s}')[^']+|(?<=\${s})\${t}[^\\\\s"',;]{4,}\`,"gi")}var _t=/[\\w+=-]{32,}/g;function jt(s){return/\\d/.test(s)?/[a-z]/.test(s)&&/[A-Z]/.test(s)||/[a-z\\d]{32}/i.test(s):!1}function Lt(s){let t=s.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let e of Ct)t=t.replaceAll(e,ot);return t.replaceAll(_t,e=>jt(e)?ot:e)}var ft=6e4,Dt=20,ct=600,qt=1e3,C=class{#t=new Map;#e={beganMs:-1/0,lines:0};#s=0;report(t,e,n=""){let i=M(),r=Pt(e,n),o=this.#t.get(r);if(o!==void 0&&i-o.writtenMs<ft){o.repeats++;return}if(i-this.#e.beganMs>=ft&&(this.#e={beganMs:i,lines:0}),this.#e.lines>=Dt){this.#s++;return}this.#e.lines++,this.#t.size>=qt&&this.#t.clear(),this.#t.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#s>0?[\`\${this.#s} errors of other causes were left out\`]:[]];this.#s=0;let h=Lt(\`\${t}: \${Rt(e)}\`),f=h.length>ct?\`\${h.slice(0,ct)}\\u2026\`:h;console.warn(a.length===0?f:\`\${f} (\${a.join("; ")})\`)}};function Pt(s,t){let e=lt(s).at(-1),n=ut(e),i=/^Cannot [^]*?": ([^]+)$/.exec(n)?.[1]??n,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,h)=>a.replaceAll(h,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${Tt(e)}: \${o}\`}var $=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function dt({onError:s},t){let e=new C;return s??(n=>e.report(\`subscription to "\${t}"\`,n))}function z(s,t){let e=new URL(s,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function G(s,t,e){let{headers:n,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(s,{...e,headers:{...await n?.(),...e.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new $(\`Cannot subscribe to \${s}: \${r.status} \${a}\`,r.status)}var H=class{#t="";push(t){let e=(this.#t+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#t=e.pop(),e.map(Ht)}};function Ht(s){let t="message",e=[],n;for(let i of s.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?e.push(o):a==="id"&&(n=o)}return{event:t,data:e.join(\`
\`),id:n}}var P=7e4,zt=[408,425,429];async function pt({request:s,onEvent:t,onDown:e},n){let{signal:i,onError:r}=n;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:h}=s();try{await Gt(a,h,n,f=>{o=0,t(f)})}catch(f){if(i.throwIfAborted(),f instanceof $&&f.status<500&&!zt.includes(f.status))throw f;r(f)}e(),await nt(st(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function Gt(s,t,e,n){let{signal:i}=e,r=new AbortController,o,a=u=>{o?.cancel(u).catch(()=>{}),r.abort(u)},h=()=>a(i.reason),f=new k(()=>a(new Error(\`Nothing came from \${s} for \${P/1e3} s\`)));i.addEventListener("abort",h,{once:!0});try{f.arm(P);let{body:u}=await G(s,e,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:r.signal});o=u.getReader(),r.signal.throwIfAborted();let m=new TextDecoder,g=new H;for(;;){let{done:b,value:O}=await o.read();if(b)return r.signal.throwIfAborted();f.arm(P);for(let It of g.push(m.decode(O,{stream:!0})))n(It)}}finally{f[Symbol.dispose](),i.removeEventListener("abort",h),a()}}var U=class{#t;#e=new I;#s;#n=[];#o;constructor(t,e){this.#s=t,this.#t=e}get request(){return this.#s}get hasSynced(){return this.#o!==void 0}get total(){return this.#o?.total??0}get offset(){return this.#o?.offset??0}rows(){return this.#n}replace(t){this.#s={...this.#s,...t},this.#t(!1)}changes(t={}){return new B(t.signal,this.#e,()=>this.#o&&this.#r(this.#o))}accept({total:t,offset:e,rows:n,changes:i}){let r=n===void 0?{total:t,offset:e,changes:i}:{total:t,offset:e,rows:n,changes:i};this.#o=r,this.#n=rt(this.#n,r);for(let o of this.#e)o.update=o.update===void 0?r:this.#r(r),o.wake()}end(t){this.#e.haveEnded||(this.#e.end(t),this.#t(!0))}[Symbol.dispose](){this.end()}#r({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#n],changes:[]}}},B=class extends v{update;#t;constructor(t,e,n){super(t,e),this.#t=n}begin(){this.update=this.#t()}poll(){let{update:t}=this;return this.update=void 0,t}},Ut=2e3,J=class{#t;#e;#s;#n=new Map;#o=0;#r;#a=!1;#i=!1;#h=new w;#f;constructor(t,e={}){let{signal:n}=e;this.#t=t,this.#e={...e,onError:dt(e,t)},this.#s=new w(n),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#s.release(),this.#w(n?.aborted?void 0:{error:i})})}get isConnected(){return this.#r!==void 0}view(t){if(this.#f!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#o),n=new U(t,i=>{(!i||this.#n.delete(e))&&this.#u()});return this.#n.set(e,n),this.#u(),n}[Symbol.dispose](){this.#w(void 0),this.#s.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#n].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#s;return pt({request:()=>{let e=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#a=e.length>Ut,{address:z(this.#t,\`views\${this.#a?"":e}\`)}},onEvent:e=>this.#g(e),onDown:()=>this.#c(void 0)},{...this.#e,signal:t,fetch:(e,n)=>this.#l(e,n)})}#l(t,e){let{fetch:n=globalThis.fetch.bind(globalThis)}=this.#e;return this.#h=new w(e.signal??void 0),n(t,{...e,signal:this.#h.signal})}#g({event:t,data:e}){if(this.#f===void 0){if(t==="stream")this.#c(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="view"){let n=JSON.parse(e);this.#n.get(n.view)?.accept(n)}}}#c(t){this.#r=t,this.#e.onConnected?.(t!==void 0),this.#a&&this.#p()}#u(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#i&&this.#r!==void 0&&this.#f===void 0;){this.#a=!1,this.#i=!0;let t=z(this.#t,\`views/\${this.#r}\`),e=this.#h;try{let n={"content-type":"application/json"},i={method:"POST",body:this.#d(),headers:n,signal:e.signal};await G(t,this.#e,i)}catch(n){if(n instanceof $&&n.status===400)this.#e.onError(n);else{let i={cause:n};e.abort(new Error("Cannot change the views of the stream; another one follows",i))}}finally{this.#i=!1}}}#w(t){if(this.#f===void 0){this.#f={failure:t},this.#r!==void 0&&this.#c(void 0);for(let e of[...this.#n.values()])e.end(t)}}};function mt(s,t={}){return new J(s,t)}var _=class{#t;#e;#s=[];#n;#o=[];#r=0;#a=0;#i={key:void 0,index:0};#h=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:n,rows:i}=t;n.addEventListener("scroll",()=>this.#l()),addEventListener("resize",()=>this.#l()),n.addEventListener("keydown",r=>this.#g(r)),i.addEventListener("click",r=>{let o=[...i.rows].findIndex(a=>a.contains(r.target));o>=0&&this.#c(this.#r+o)})}get#f(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t){this.#s=t,this.#n=void 0,this.#i={key:void 0,index:0},this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(e=>this.#m(e))),this.toTop(),this.show([],0,0)}toTop(){this.#i={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#l()}focus(){this.#u(this.#i.index)}show(t,e,n){this.#o=t,this.#r=e,this.#a=n;let{scroller:i,table:r,before:o,after:a,rows:h}=this.#t,f=document.activeElement===i||h.contains(document.activeElement);r.setAttribute("aria-rowcount",String(n+1)),o.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,n-e-t.length)*28}px\`;let u=t.findIndex(({key:m})=>m===this.#i.key);for(u>=0&&(this.#i={key:this.#i.key,index:e+u}),this.#i={...this.#i,index:Math.max(0,Math.min(this.#i.index,n-1))};h.rows.length>t.length;)h.deleteRow(-1);t.forEach((m,g)=>this.#d(h.rows[g]??h.insertRow(),m,e+g)),(this.#h||f)&&this.#p()}refresh(){this.show(this.#o,this.#r,this.#a)}#d(t,{object:e},n){let i=n===this.#i.index;for(W(t,"aria-rowindex",String(n+2)),W(t,"aria-selected",String(i)),W(t,"tabindex",i?"0":"-1");t.cells.length>this.#s.length;)t.deleteCell(-1);this.#s.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),h=e===null?"":r(e);a.textContent!==h&&(a.textContent=h,a.title=h)})}#m({title:t,sortKeys:e}){let n=document.createElement("th");n.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=e;this.#n=this.#n===r?o:this.#n===o?void 0:r;for(let a of this.#t.heads.cells)a.removeAttribute("aria-sort");this.#n!==void 0&&n.setAttribute("aria-sort",this.#n===r?"ascending":"descending"),this.#e.onSort(this.#n),this.toTop()}),n.append(i),n}#l(){let{scroller:t}=this.#t,e=Math.floor(t.scrollTop/28),n=Math.max(0,Math.floor((e-30)/30)*30),i=Math.ceil((this.#f+4*30)/30)*30;this.#e.onWindow({offset:n,limit:i})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#i,n={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#f,PageUp:e-this.#f,Home:0,End:this.#a-1};if(t.key==="Enter")this.#c(e);else if(Object.hasOwn(n,t.key))this.#u(n[t.key]);else return;t.preventDefault()}#c(t){let e=this.#o[t-this.#r];e!==void 0&&(this.#u(t),this.#e.onOpen(e.key))}#u(t){let e=Math.max(0,Math.min(t,this.#a-1));this.#i={key:this.#o[e-this.#r]?.key,index:e};let{scroller:n}=this.#t,i=e*28,r=n.clientHeight-2*28;i<n.scrollTop?n.scrollTop=i:i>n.scrollTop+r&&(n.scrollTop=i-r),this.#h=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#i.index-this.#r];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#h=!1,this.#i={...this.#i,key:this.#o[this.#i.index-this.#r].key},t.focus({preventScroll:!0})}};function W(s,t,e){s.getAttribute(t)!==e&&s.setAttribute(t,e)}var j=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let n=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(e-1-r/n*(e-2)).toFixed(1)}\`}).join("")}};function gt(s){return K(s,"").join(\`
\`).trimStart()}function K(s,t){if(Array.isArray(s))return s.length===0?[" []"]:["",...s.flatMap(e=>Jt(e,t))];if(typeof s=="object"&&s!==null){let e=Object.keys(s).sort();return e.length===0?[" {}"]:["",...e.flatMap(n=>Bt(n,s[n],t))]}return typeof s=="string"?Kt(s,t):[\` \${JSON.stringify(s)??"null"}\`]}function Bt(s,t,e){let[n,...i]=K(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${wt.test(s)&&!bt.test(s)?s:yt(s)}:\${n}\`,...i]}function Jt(s,t){let e=\`\${t}  \`,[n,...i]=K(s,e);return n!==""?[\`\${t}-\${n}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var wt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,bt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Wt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Kt(s,t){if(wt.test(s)&&!bt.test(s))return[\` \${s}\`];if(!Wt.test(s))return[\` \${yt(s)}\`];let e=s.replace(/\\n$/,"").split(\`
\`),n=t===""?"  ":t;return[s.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":n+i)]}function yt(s){return JSON.stringify(s).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var xt={title:"Name",textOf:({metadata:s})=>s.name,sortKeys:["metadata.name","-metadata.name"]},Xt={title:"Namespace",textOf:({metadata:s})=>s.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Et={title:"Age",textOf:({metadata:{creationTimestamp:s}})=>s?it(Math.max(0,Date.now()-Date.parse(s))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function c(s){return document.getElementById(s)}var L=c("collection"),S=c("filter"),At=c("details"),X=c("state"),Q=new Map,F=new j,vt=!1,p,l,Mt,A,Y=mt(new URL(".",location.href),{onCollection:s=>{Q.set(s.name,s),D()},onConnected:s=>{vt=s,D()}}),Z=c("scroller"),d=new _({scroller:Z,table:Z.querySelector("table"),heads:c("heads"),before:c("before"),rows:c("rows"),after:c("after")},{onWindow:({offset:s,limit:t})=>{l===void 0||l.request.offset===s&&l.request.limit===t||l.replace({offset:s,limit:t})},onSort:s=>l?.replace({sortBy:s===void 0?[]:[s]}),onOpen:Yt});async function V(s,t){for await(let e of s.changes())t()}function D(){let s=p&&Q.get(p.name),t=vt?s?.state??"connecting":"disconnected";X.textContent!==t&&(X.textContent=t),X.className=t==="live"?"live":"";let{total:e=0,hasSynced:n=!1}=l??{},i=s?.objects!==void 0&&s.objects!==e?\` of \${s.objects.toLocaleString("en")}\`:"";c("count").textContent=n?\`\${e.toLocaleString("en")}\${i} objects\`:"",c("empty").hidden=!n||e>0}function Ot(s){p=s,tt(),l?.[Symbol.dispose](),Mt?.[Symbol.dispose]();let{name:t,isTable:e,kind:n}=s;document.title=\`\${n}: informer\`,Z.querySelector("table").setAttribute("aria-label",t);let i=e?["metadata.name","cells"]:["metadata.name"],r=l=Y.view({of:t,search:S.value,fields:i,offset:0,limit:150}),o=Mt=e?Y.view({of:t,fields:["columns"],limit:1}):void 0;d.reset(o===void 0?$t(s,void 0):[]);let a="";o!==void 0&&V(o,()=>{let h=o.rows()[0]?.object?.columns,f=JSON.stringify(h?.map(u=>u.name));h===void 0||f===a||(a=f,d.reset($t(s,h)),r.hasSynced&&d.show(r.rows(),r.offset,r.total))}),V(r,()=>{d.show(r.rows(),r.offset,r.total),D()}),D()}function $t({scope:s},t){let e=t?.flatMap(({name:n,priority:i,format:r},o)=>i>0?[]:n==="Age"?[Et]:r==="name"?[xt]:[{title:n,textOf:({cells:a})=>Ft(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...s==="Namespaced"?[Xt]:[],...e??[xt,Et]]}function Ft(s){return s==null?"":typeof s=="object"?JSON.stringify(s):String(s)}function Yt(s){A?.view[Symbol.dispose]();let[t,e]=s.split("/").reverse(),n=Y.view({of:p.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...p.isTable?{fields:["object"]}:{},limit:1});A={key:s,view:n},c("title").textContent=s,c("yaml").textContent="",At.hidden=!1,V(n,()=>{let i=n.rows()[0]?.object,r=i?gt(p.isTable?i.object:i):\`\${s} is gone\`;c("yaml").textContent!==r&&(c("yaml").textContent=r)}),c("yaml").focus()}function tt(){A!==void 0&&(A.view[Symbol.dispose](),A=void 0,At.hidden=!0)}c("close").addEventListener("click",()=>{tt(),d.focus()});addEventListener("keydown",s=>{let t=s.target instanceof HTMLInputElement||s.target instanceof HTMLSelectElement;s.key==="/"&&!t?(s.preventDefault(),S.focus(),S.select()):s.key==="Escape"&&A!==void 0?(tt(),d.focus()):(s.key==="Escape"||s.key==="Enter")&&s.target===S&&d.focus()});var St;S.addEventListener("input",()=>{clearTimeout(St),St=setTimeout(()=>{l?.replace({search:S.value}),d.toTop()},150)});setInterval(()=>{F.sample(p&&Q.get(p.name)?.events),c("plot").querySelector("path").setAttribute("d",F.path(120,24)),c("per_second").textContent=\`\${F.perSecond} events/s\`,d.refresh()},1e3);var{collections:et}=await(await fetch(new URL("api",location.href))).json();L.replaceChildren(...et.map(({name:s})=>new Option(s,s)));L.addEventListener("change",()=>Ot(et[L.selectedIndex]));Ot(et[L.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-BE5lQfzK0yxkelS/jk+2bPlf/xm7jRmHZHWc2JPYHMQ='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
