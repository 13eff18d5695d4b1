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
<label id="clusters" hidden>Cluster <select id="cluster"></select></label>
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
<script type="module">var w=class{#t=new AbortController;#e;#n=()=>this.abort(this.#s?.reason);constructor(...t){if(this.#e=t,this.#s!==void 0)this.#n();else for(let e of t)e?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#s(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var O=class{#t;#e;#n="new";#s;#o;#r=Promise.resolve();constructor(t,e){this.#t=t===void 0?[]:[t],this.#e=e}begin(){}finish(){}wait(){return new Promise(t=>this.#o=t)}endWith(t){this.#t.push(t)}wake(){this.#o?.()}end(t){if(this.#n!=="over"){this.#n="over",this.#s=t;for(let e of this.#t)e.removeEventListener("abort",this.#a);this.#e?.delete(this),this.finish(),this.wake()}}next(){let t=this.#r.then(this.#i);return this.#r=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#a=()=>this.end();#i=async()=>{for(this.#n==="new"&&this.#h();this.#c;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#c&&await this.wait()}let t=this.#s;if(this.#s=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#c(){return this.#n==="open"}#h(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#n="open";for(let t of this.#t)t.addEventListener("abort",this.#a,{once:!0});this.#e?.add(this);try{this.#c&&this.begin()}catch(t){this.end({error:t})}}},I=class{#t=new Set;#e;get haveEnded(){return this.#e!==void 0}add(t){this.#e===void 0?this.#t.add(t):t.end(this.#e.failure)}delete(t){this.#t.delete(t)}end(t){this.#e??={failure:t};for(let e of this.#t)e.end(this.#e.failure)}[Symbol.iterator](){return this.#t.values()}};function q(n,t={}){let{signal:e,persistent:s=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let i,r,o=new Promise((...b)=>[i,r]=b),a,c=Date.now(),h=n>0?Math.trunc(n):0;function u(b){let v=b>2147483647;a=setTimeout(v?()=>u(h-(Date.now()-c)):m,v?2147483647:b),s||Deno.unrefTimer(Number(a))}function m(){e?.removeEventListener("abort",g),i()}function g(){clearTimeout(a),r(e?.reason)}return u(h),e?.addEventListener("abort",g,{once:!0}),o}function nt(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:i=2,jitter:r=1}=t;return Math.min(e*Math.min(i**n,Number.MAX_VALUE),s/(1+r))*(1+Math.random()*r)}function M(){return performance.now()}var C=2**31-1,R=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=C)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=M()+t;this.#e=setTimeout(()=>this.arm(e-M()),C)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};async function st(n,t={}){let e=M()+n,s=n;for(;s>C;s=e-M())await q(C,t);await q(s,t)}var y=60,x=60*y,E=24*x,T=365*E;function it(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*y?\`\${t}s\`:t<10*y?N(t,y,"m",1,"s"):t<3*x?\`\${Math.floor(t/y)}m\`:t<8*x?N(t,x,"h",y,"m"):t<2*E?\`\${Math.floor(t/x)}h\`:t<8*E?N(t,E,"d",x,"h"):t<2*T?\`\${Math.floor(t/E)}d\`:t<8*T?N(t,T,"y",E,"d"):\`\${Math.floor(t/T)}y\`}function N(n,t,e,s,i){let r=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${r===0?"":\`\${r}\${i}\`}\`}var ie=2n**63n-1n;function rt(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}function ut(n){try{return n instanceof Error?n.message:String(n)}catch{return"a value that has no text"}}function Tt(n){return n instanceof Error?n.name:typeof n}var Nt=8;function lt(n){let t=[];for(let e=n;e!==void 0&&t.length<Nt&&!t.includes(e)&&(t.push(e),e instanceof Error);)e=e.cause??(e instanceof AggregateError?e.errors[0]:void 0);return t}function Ct(n){let t="";for(let e of lt(n)){let s=Rt(ut(e))||(e instanceof Error?e.name:""),i=e instanceof Error&&e.name==="NotCapable"&&t.includes("--allow-");s===""||i||t.includes(s)||(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`)}return t}function Rt(n){return n.trim().split(/\\s+/).join(" ")}var ot="[redacted]",at="secret|token|passw(?:or)?d|passphrase|credential|key",kt=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,ct(\`(?:\${at})["']? ?[:=] ?\`),ct(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${at})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function ct(n,t=""){return new RegExp(\`(?<=\${n}")[^"]+|(?<=\${n}')[^']+|(?<=\${n})\${t}[^\\\\s"',;]{4,}\`,"gi")}var _t=/[\\w+=-]{32,}/g;function jt(n){return/\\d/.test(n)?/[a-z]/.test(n)&&/[A-Z]/.test(n)||/[a-z\\d]{32}/i.test(n):!1}function Lt(n){let t=n.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let e of kt)t=t.replaceAll(e,ot);return t.replaceAll(_t,e=>jt(e)?ot:e)}var ht=6e4,Dt=20,ft=600,qt=1e3,k=class{#t=new Map;#e={beganMs:-1/0,lines:0};#n=0;report(t,e,s=""){let i=M(),r=Pt(e,s),o=this.#t.get(r);if(o!==void 0&&i-o.writtenMs<ht){o.repeats++;return}if(i-this.#e.beganMs>=ht&&(this.#e={beganMs:i,lines:0}),this.#e.lines>=Dt){this.#n++;return}this.#e.lines++,this.#t.size>=qt&&this.#t.clear(),this.#t.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let c=Lt(\`\${t}: \${Ct(e)}\`),h=c.length>ft?\`\${c.slice(0,ft)}\\u2026\`:c;console.warn(a.length===0?h:\`\${h} (\${a.join("; ")})\`)}};function Pt(n,t){let e=lt(n).at(-1),s=ut(e),i=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,c)=>a.replaceAll(c,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${Tt(e)}: \${o}\`}var $=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function dt({onError:n},t){let e=new k;return n??(s=>e.report(\`subscription to "\${t}"\`,s))}function z(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function G(n,t,e){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(n,{...e,headers:{...await s?.(),...e.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new $(\`Cannot subscribe to \${n}: \${r.status} \${a}\`,r.status)}var H=class{#t="";push(t){let e=(this.#t+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#t=e.pop(),e.map(Ht)}};function Ht(n){let t="message",e=[],s;for(let i of n.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?e.push(o):a==="id"&&(s=o)}return{event:t,data:e.join(\`
\`),id:s}}var P=7e4,zt=[408,425,429];async function pt({request:n,onEvent:t,onDown:e},s){let{signal:i,onError:r}=s;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:c}=n();try{await Gt(a,c,s,h=>{o=0,t(h)})}catch(h){if(i.throwIfAborted(),h instanceof $&&h.status<500&&!zt.includes(h.status))throw h;r(h)}e(),await st(nt(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function Gt(n,t,e,s){let{signal:i}=e,r=new AbortController,o,a=u=>{o?.cancel(u).catch(()=>{}),r.abort(u)},c=()=>a(i.reason),h=new R(()=>a(new Error(\`Nothing came from \${n} for \${P/1e3} s\`)));i.addEventListener("abort",c,{once:!0});try{h.arm(P);let{body:u}=await G(n,e,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:r.signal});o=u.getReader(),r.signal.throwIfAborted();let m=new TextDecoder,g=new H;for(;;){let{done:b,value:v}=await o.read();if(b)return r.signal.throwIfAborted();h.arm(P);for(let It of g.push(m.decode(v,{stream:!0})))s(It)}}finally{h[Symbol.dispose](),i.removeEventListener("abort",c),a()}}var U=class{#t;#e=new I;#n;#s=[];#o;constructor(t,e){this.#n=t,this.#t=e}get request(){return this.#n}get hasSynced(){return this.#o!==void 0}get total(){return this.#o?.total??0}get offset(){return this.#o?.offset??0}rows(){return this.#s}replace(t){this.#n={...this.#n,...t},this.#t(!1)}changes(t={}){return new B(t.signal,this.#e,()=>this.#o&&this.#r(this.#o))}accept({total:t,offset:e,rows:s,changes:i}){let r=s===void 0?{total:t,offset:e,changes:i}:{total:t,offset:e,rows:s,changes:i};this.#o=r,this.#s=rt(this.#s,r);for(let o of this.#e)o.update=o.update===void 0?r:this.#r(r),o.wake()}end(t){this.#e.haveEnded||(this.#e.end(t),this.#t(!0))}[Symbol.dispose](){this.end()}#r({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#s],changes:[]}}},B=class extends O{update;#t;constructor(t,e,s){super(t,e),this.#t=s}begin(){this.update=this.#t()}poll(){let{update:t}=this;return this.update=void 0,t}},Ut=2e3,K=class{#t;#e;#n;#s=new Map;#o=0;#r;#a=!1;#i=!1;#c=new w;#h;constructor(t,e={}){let{signal:s}=e;this.#t=t,this.#e={...e,onError:dt(e,t)},this.#n=new w(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#n.release(),this.#w(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#r!==void 0}view(t){if(this.#h!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#o),s=new U(t,i=>{(!i||this.#s.delete(e))&&this.#u()});return this.#s.set(e,s),this.#u(),s}[Symbol.dispose](){this.#w(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#s].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#n;return pt({request:()=>{let e=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#a=e.length>Ut,{address:z(this.#t,\`views\${this.#a?"":e}\`)}},onEvent:e=>this.#g(e),onDown:()=>this.#f(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#l(e,s)})}#l(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#c=new w(e.signal??void 0),s(t,{...e,signal:this.#c.signal})}#g({event:t,data:e}){if(this.#h===void 0){if(t==="stream")this.#f(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#s.get(s.view)?.accept(s)}}}#f(t){this.#r=t,this.#e.onConnected?.(t!==void 0),this.#a&&this.#p()}#u(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#i&&this.#r!==void 0&&this.#h===void 0;){this.#a=!1,this.#i=!0;let t=z(this.#t,\`views/\${this.#r}\`),e=this.#c;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#d(),headers:s,signal:e.signal};await G(t,this.#e,i)}catch(s){if(s instanceof $&&s.status===400)this.#e.onError(s);else{let i={cause:s};e.abort(new Error("Cannot change the views of the stream; another one follows",i))}}finally{this.#i=!1}}}#w(t){if(this.#h===void 0){this.#h={failure:t},this.#r!==void 0&&this.#f(void 0);for(let e of[...this.#s.values()])e.end(t)}}};function mt(n,t={}){return new K(n,t)}var _=class{#t;#e;#n=[];#s;#o=[];#r=0;#a=0;#i={key:void 0,index:0};#c=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#l()),addEventListener("resize",()=>this.#l()),s.addEventListener("keydown",r=>this.#g(r)),i.addEventListener("click",r=>{let o=[...i.rows].findIndex(a=>a.contains(r.target));o>=0&&this.#f(this.#r+o)})}get#h(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t){this.#n=t,this.#s=void 0,this.#i={key:void 0,index:0},this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(e=>this.#m(e))),this.toTop(),this.show([],0,0)}toTop(){this.#i={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#l()}focus(){this.#u(this.#i.index)}show(t,e,s){this.#o=t,this.#r=e,this.#a=s;let{scroller:i,table:r,before:o,after:a,rows:c}=this.#t,h=document.activeElement===i||c.contains(document.activeElement);r.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let u=t.findIndex(({key:m})=>m===this.#i.key);for(u>=0&&(this.#i={key:this.#i.key,index:e+u}),this.#i={...this.#i,index:Math.max(0,Math.min(this.#i.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((m,g)=>this.#d(c.rows[g]??c.insertRow(),m,e+g)),(this.#c||h)&&this.#p()}refresh(){this.show(this.#o,this.#r,this.#a)}#d(t,{object:e},s){let i=s===this.#i.index;for(W(t,"aria-rowindex",String(s+2)),W(t,"aria-selected",String(i)),W(t,"tabindex",i?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),c=e===null?"":r(e);a.textContent!==c&&(a.textContent=c,a.title=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=e;this.#s=this.#s===r?o:this.#s===o?void 0:r;for(let a of this.#t.heads.cells)a.removeAttribute("aria-sort");this.#s!==void 0&&s.setAttribute("aria-sort",this.#s===r?"ascending":"descending"),this.#e.onSort(this.#s),this.toTop()}),s.append(i),s}#l(){let{scroller:t}=this.#t,e=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((e-30)/30)*30),i=Math.ceil((this.#h+4*30)/30)*30;this.#e.onWindow({offset:s,limit:i})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#i,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#h,PageUp:e-this.#h,Home:0,End:this.#a-1};if(t.key==="Enter")this.#f(e);else if(Object.hasOwn(s,t.key))this.#u(s[t.key]);else return;t.preventDefault()}#f(t){let e=this.#o[t-this.#r];e!==void 0&&(this.#u(t),this.#e.onOpen(e.key))}#u(t){let e=Math.max(0,Math.min(t,this.#a-1));this.#i={key:this.#o[e-this.#r]?.key,index:e};let{scroller:s}=this.#t,i=e*28,r=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+r&&(s.scrollTop=i-r),this.#c=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#i.index-this.#r];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#c=!1,this.#i={...this.#i,key:this.#o[this.#i.index-this.#r].key},t.focus({preventScroll:!0})}};function W(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var j=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),i=60-this.#t.length;return this.#t.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(e-1-r/s*(e-2)).toFixed(1)}\`}).join("")}};function gt(n){return J(n,"").join(\`
\`).trimStart()}function J(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>Kt(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>Bt(s,n[s],t))]}return typeof n=="string"?Jt(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function Bt(n,t,e){let[s,...i]=J(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${wt.test(n)&&!bt.test(n)?n:yt(n)}:\${s}\`,...i]}function Kt(n,t){let e=\`\${t}  \`,[s,...i]=J(n,e);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(e.length)}\`,...i.slice(1)]}var wt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,bt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Wt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Jt(n,t){if(wt.test(n)&&!bt.test(n))return[\` \${n}\`];if(!Wt.test(n))return[\` \${yt(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(i=>i===""?"":s+i)]}function yt(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var xt={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Xt={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Et={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?it(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function f(n){return document.getElementById(n)}var L=f("collection"),S=f("filter"),At=f("details"),X=f("state"),Q=new Map,F=new j,Ot=!1,p,l,Mt,A,V=mt(new URL(".",location.href),{onCollection:n=>{Q.set(n.name,n),D()},onConnected:n=>{Ot=n,D()}}),Y=f("scroller"),d=new _({scroller:Y,table:Y.querySelector("table"),heads:f("heads"),before:f("before"),rows:f("rows"),after:f("after")},{onWindow:({offset:n,limit:t})=>{l===void 0||l.request.offset===n&&l.request.limit===t||l.replace({offset:n,limit:t})},onSort:n=>l?.replace({sortBy:n===void 0?[]:[n]}),onOpen:Vt});async function Z(n,t){for await(let e of n.changes())t()}function D(){let n=p&&Q.get(p.name),t=Ot?n?.state??"connecting":"disconnected";X.textContent!==t&&(X.textContent=t),X.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=l??{},i=n?.objects!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";f("count").textContent=s?\`\${e.toLocaleString("en")}\${i} objects\`:"",f("empty").hidden=!s||e>0}function vt(n){p=n,tt(),l?.[Symbol.dispose](),Mt?.[Symbol.dispose]();let{name:t,isTable:e,kind:s}=n;document.title=\`\${s}: informer\`,Y.querySelector("table").setAttribute("aria-label",t);let i=e?["metadata.name","cells"]:["metadata.name"],r=l=V.view({of:t,search:S.value,fields:i,offset:0,limit:150}),o=Mt=e?V.view({of:t,fields:["columns"],limit:1}):void 0;d.reset(o===void 0?$t(n,void 0):[]);let a="";o!==void 0&&Z(o,()=>{let c=o.rows()[0]?.object?.columns,h=JSON.stringify(c?.map(u=>u.name));c===void 0||h===a||(a=h,d.reset($t(n,c)),r.hasSynced&&d.show(r.rows(),r.offset,r.total))}),Z(r,()=>{d.show(r.rows(),r.offset,r.total),D()}),D()}function $t({scope:n},t){let e=t?.flatMap(({name:s,priority:i,format:r},o)=>i>0?[]:s==="Age"?[Et]:r==="name"?[xt]:[{title:s,textOf:({cells:a})=>Ft(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...n==="Namespaced"?[Xt]:[],...e??[xt,Et]]}function Ft(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function Vt(n){A?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=V.view({of:p.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...p.isTable?{fields:["object"]}:{},limit:1});A={key:n,view:s},f("title").textContent=n,f("yaml").textContent="",At.hidden=!1,Z(s,()=>{let i=s.rows()[0]?.object,r=i?gt(p.isTable?i.object:i):\`\${n} is gone\`;f("yaml").textContent!==r&&(f("yaml").textContent=r)}),f("yaml").focus()}function tt(){A!==void 0&&(A.view[Symbol.dispose](),A=void 0,At.hidden=!0)}f("close").addEventListener("click",()=>{tt(),d.focus()});addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),S.focus(),S.select()):n.key==="Escape"&&A!==void 0?(tt(),d.focus()):(n.key==="Escape"||n.key==="Enter")&&n.target===S&&d.focus()});var St;S.addEventListener("input",()=>{clearTimeout(St),St=setTimeout(()=>{l?.replace({search:S.value}),d.toTop()},150)});setInterval(()=>{F.sample(p&&Q.get(p.name)?.events),f("plot").querySelector("path").setAttribute("d",F.path(120,24)),f("per_second").textContent=\`\${F.perSecond} events/s\`,d.refresh()},1e3);async function Yt(){let[,n]=/\\/clusters\\/([^/]+)\\/$/.exec(location.pathname)??[];if(n===void 0)return;let t=await(await fetch(new URL("../../clusters",location.href))).json(),e=f("cluster");e.replaceChildren(...t.map(s=>new Option(s,s,!1,s===decodeURIComponent(n)))),e.addEventListener("change",()=>location.assign(\`../\${encodeURIComponent(e.value)}/\`)),f("clusters").hidden=!1}await Yt();var{collections:et}=await(await fetch(new URL("api",location.href))).json();L.replaceChildren(...et.map(({name:n})=>new Option(n,n)));L.addEventListener("change",()=>vt(et[L.selectedIndex]));vt(et[L.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-Kg0nL0eNwwHrjnCmzw5RurMlL2B4PPwLXAJDUqcT0Kc='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
