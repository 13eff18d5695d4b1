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
<script type="module">var y=class{#t=new AbortController;#e;#n=()=>this.abort(this.#s?.reason);constructor(...t){if(this.#e=t,this.#s!==void 0)this.#n();else for(let e of t)e?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#e.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#s(){return this.#e.find(t=>t?.aborted)}get signal(){return this.#t.signal}abort(t){this.release(),this.#t.abort(t)}release(){for(let t of this.#e)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};function p(){return performance.now()}function D(n){try{return n instanceof Error?n.message:String(n)}catch{return"a value that has no text"}}var Tt=8;function H(n){let t=[];for(let e=n;e!==void 0&&t.length<Tt&&!t.includes(e)&&(t.push(e),e instanceof Error);)e=e.cause??(e instanceof AggregateError?e.errors[0]:void 0);return t}function Q(n){let t="";for(let e of H(n)){let s=Ot(D(e))||(e instanceof Error?e.name:""),o=e instanceof Error&&e.name==="NotCapable"&&t.includes("--allow-");s===""||o||t.includes(s)||(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`)}return t}function Ot(n){return n.trim().split(/\\s*\\n\\s*/).join(" ")}var tt="[redacted]",et="secret|token|passw(?:or)?d|passphrase|credential|key",Rt=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,nt(\`(?:\${et})["']? ?[:=] ?\`),nt(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${et})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function nt(n,t=""){return new RegExp(\`(?<=\${n}")[^"]+|(?<=\${n}')[^']+|(?<=\${n})\${t}[^\\\\s"',;]{4,}\`,"gi")}var vt=/[\\w+=-]{32,}/g;function It(n){return/\\d/.test(n)?/[a-z]/.test(n)&&/[A-Z]/.test(n)||/[a-z\\d]{32}/i.test(n):!1}function st(n){let t=n.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let e of Rt)t=t.replaceAll(e,tt);return t.replaceAll(vt,e=>It(e)?tt:e)}var ot=6e4,Ct=20,it=600,Nt=1e3,$=class{#t=new Map;#e={beganMs:-1/0,lines:0};#n=0;report(t,e,s=""){let o=p(),i=kt(e,s),r=this.#t.get(i);if(r!==void 0&&o-r.writtenMs<ot){r.repeats++;return}if(o-this.#e.beganMs>=ot&&(this.#e={beganMs:o,lines:0}),this.#e.lines>=Ct){this.#n++;return}this.#e.lines++,this.#t.size>=Nt&&this.#t.clear(),this.#t.set(i,{writtenMs:o,repeats:0});let a=[...r===void 0||r.repeats===0?[]:[\`\${r.repeats} more times since the last line\`],...this.#n===0?[]:[\`\${this.#n} errors of other causes were left out\`]];this.#n=0;let c=st(\`\${t}: \${Q(e)}\`),f=c.length>it?\`\${c.slice(0,it)}\\u2026\`:c;console.warn(a.length===0?f:\`\${f} (\${a.join("; ")})\`)}};function kt(n,t){let e=H(n).at(-1),s=D(e),o=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,r=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,c)=>a.replaceAll(c,""),o.replaceAll(/\\bversion "?\\d+/g,""));return\`\${e instanceof Error?e.name:typeof e}: \${r}\`}var b=class extends Error{name="RelayError";status;constructor(t,e){super(t),this.status=e}};function rt({onError:n},t){let e=new $;return n??(s=>e.report(\`subscription to "\${t}"\`,s))}function j(n,t){let e=new URL(n,globalThis.location?.href);return new URL(t,e.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function T(n,t,e){let{headers:s,fetch:o=globalThis.fetch.bind(globalThis)}=t,i=await o(n,{...e,headers:{...await s?.(),...e.headers}});if(i.ok)return i;let r=await i.text(),a=r.slice(0,200);try{a=JSON.parse(r).error}catch{}throw new b(\`Cannot subscribe to \${n}: \${i.status} \${a}\`,i.status)}function at(n,t){let{initialMs:e=800,maxMs:s=3e4,factor:o=2,jitter:i=1}=t;return Math.min(e*Math.min(o**n,Number.MAX_VALUE),s/(1+i))*(1+Math.random()*i)}var A=2**31-1,O=class{#t;#e;constructor(t){this.#t=()=>{this.#e=void 0,t()}}get isArmed(){return this.#e!==void 0}arm(t){if(this[Symbol.dispose](),t<=A)this.#e=setTimeout(this.#t,Math.max(0,Math.ceil(t)));else if(t!==1/0){let e=p()+t;this.#e=setTimeout(()=>this.arm(e-p()),A)}}[Symbol.dispose](){this.#e!==void 0&&(clearTimeout(this.#e),this.#e=void 0)}};function U(n,t={}){let{signal:e,persistent:s=!0}=t;if(e?.aborted)return Promise.reject(e.reason);let o,i,r=new Promise((...E)=>[o,i]=E),a,c=Date.now(),f=n>0?Math.trunc(n):0;function l(E){let S=E>2147483647;a=setTimeout(S?()=>l(f-(Date.now()-c)):w,S?2147483647:E),s||Deno.unrefTimer(Number(a))}function w(){e?.removeEventListener("abort",g),o()}function g(){clearTimeout(a),i(e?.reason)}return l(f),e?.addEventListener("abort",g,{once:!0}),r}async function ct(n,t={}){let e=p()+n,s=n;for(;s>A;s=e-p())await U(A,t);await U(s,t)}var R=class{#t="";push(t){let e=(this.#t+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#t=e.pop(),e.map(_t)}};function _t(n){let t="message",e=[],s;for(let o of n.split(\`
\`)){let i=o.indexOf(":");if(i<1)continue;let r=o.slice(i+(o[i+1]===" "?2:1)),a=o.slice(0,i);a==="event"?t=r:a==="data"?e.push(r):a==="id"&&(s=r)}return{event:t,data:e.join(\`
\`),id:s}}var P=7e4,Lt=[408,425,429];async function ft({request:n,onEvent:t,onDown:e},s){let{signal:o,onError:i}=s;for(let r=0;;r++){o.throwIfAborted();let{address:a,headers:c}=n();try{await Dt(a,c,s,f=>{r=0,t(f)})}catch(f){if(o.throwIfAborted(),f instanceof b&&f.status<500&&!Lt.includes(f.status))throw f;i(f)}e(),await ct(at(r,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:o})}}async function Dt(n,t,e,s){let{signal:o}=e,i=new AbortController,r,a=l=>{r?.cancel(l).catch(()=>{}),i.abort(l)},c=()=>a(o.reason),f=new O(()=>a(new Error(\`Nothing came from \${n} for \${P/1e3} s\`)));o.addEventListener("abort",c,{once:!0});try{f.arm(P);let{body:l}=await T(n,e,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:i.signal});r=l.getReader(),i.signal.throwIfAborted();let w=new TextDecoder,g=new R;for(;;){let{done:E,value:S}=await r.read();if(E)return i.signal.throwIfAborted();f.arm(P);for(let $t of g.push(w.decode(S,{stream:!0})))s($t)}}finally{f[Symbol.dispose](),o.removeEventListener("abort",c),a()}}function ht(n,t){if(t.rows!==void 0)return[...t.rows];for(let e of t.changes){if(e.type==="changed"){n[e.to]=e.row;continue}e.type!=="entered"&&n.splice(e.from,1),e.type!=="left"&&n.splice(e.to,0,e.row)}return n}var v=class{#t;#e="new";#n;#s;#r=Promise.resolve();constructor(t){this.#t=t===void 0?[]:[t]}wait(){return new Promise(t=>this.#s=t)}endWith(t){this.#t.push(t)}wake(){this.#s?.()}end(t){if(this.#e!=="over"){this.#e="over",this.#n=t;for(let e of this.#t)e.removeEventListener("abort",this.#i);this.finish(),this.wake()}}next(){let t=this.#r.then(this.#a);return this.#r=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#i=()=>this.end();#a=async()=>{for(this.#e==="new"&&this.#c();this.#o;){let e=this.poll();if(e!==void 0)return{done:!1,value:e};this.#o&&await this.wait()}let t=this.#n;if(this.#n=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#o(){return this.#e==="open"}#c(){if(this.#t.some(({aborted:t})=>t))return this.end();this.#e="open";for(let t of this.#t)t.addEventListener("abort",this.#i,{once:!0});try{this.begin()}catch(t){this.end({error:t})}}};var I=class{#t;#e=new Set;#n;#s=[];#r;#i;constructor(t,e){this.#n=t,this.#t=e}get request(){return this.#n}get hasSynced(){return this.#r!==void 0}get total(){return this.#r?.total??0}get offset(){return this.#r?.offset??0}rows(){return this.#s}replace(t){this.#n={...this.#n,...t},this.#t.onChange()}changes(t={}){return new G(t.signal,this.#e,e=>{this.#i===void 0?e.update=this.#r&&this.#a(this.#r):e.end(this.#i.failure)})}accept({total:t,offset:e,rows:s,changes:o}){let i=s===void 0?{total:t,offset:e,changes:o}:{total:t,offset:e,rows:s,changes:o};this.#r=i,this.#s=ht(this.#s,i);for(let r of this.#e)r.update=r.update===void 0?i:this.#a(i),r.wake()}end(t){if(this.#i===void 0){this.#i={failure:t};for(let e of this.#e)e.end(t);this.#t.onEnd()}}[Symbol.dispose](){this.end()}#a({total:t,offset:e}){return{total:t,offset:e,rows:[...this.#s],changes:[]}}},G=class extends v{update;#t;#e;constructor(t,e,s){super(t),this.#t=e,this.#e=s}poll(){let{update:t}=this;return this.update=void 0,t}begin(){this.#t.add(this),this.#e(this)}finish(){this.#t.delete(this)}};var Ht=2e3,Y=class{#t;#e;#n;#s=new Map;#r=0;#i;#a=!1;#o=!1;#c=new y;#f;constructor(t,e={}){let{signal:s}=e;this.#t=t,this.#e={...e,onError:rt(e,t)},this.#n=new y(s),Promise.resolve().then(()=>this.#m()).catch(o=>{this.#n.release(),this.#g(s?.aborted?void 0:{error:o})})}get isConnected(){return this.#i!==void 0}view(t){if(this.#f!==void 0)throw new Error("Cannot open a view: the subscription has ended");let e=String(++this.#r),s=new I(t,{onChange:()=>this.#h(),onEnd:()=>{this.#s.delete(e)&&this.#h()}});return this.#s.set(e,s),this.#h(),s}[Symbol.dispose](){this.#g(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#d(){return JSON.stringify(Object.fromEntries([...this.#s].map(([t,{request:e}])=>[t,e])))}#m(){let{signal:t}=this.#n;return ft({request:()=>{let e=\`?views=\${encodeURIComponent(this.#d())}\`;return this.#a=e.length>Ht,{address:j(this.#t,\`views\${this.#a?"":e}\`)}},onEvent:e=>this.#w(e),onDown:()=>this.#l(void 0)},{...this.#e,signal:t,fetch:(e,s)=>this.#u(e,s)})}#u(t,e){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#e;return this.#c=new y(e.signal??void 0),s(t,{...e,signal:this.#c.signal})}#w({event:t,data:e}){if(this.#f===void 0){if(t==="stream")this.#l(JSON.parse(e).id);else if(t==="collection")this.#e.onCollection?.(JSON.parse(e));else if(t==="view"){let s=JSON.parse(e);this.#s.get(s.view)?.accept(s)}}}#l(t){this.#i=t,this.#e.onConnected?.(t!==void 0),this.#a&&this.#p()}#h(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#o&&this.#i!==void 0&&this.#f===void 0;){this.#a=!1,this.#o=!0;let t=j(this.#t,\`views/\${this.#i}\`),e=this.#c;try{let s={"content-type":"application/json"},o={method:"POST",body:this.#d(),headers:s,signal:e.signal};await T(t,this.#e,o)}catch(s){if(s instanceof b&&s.status===400)this.#e.onError(s);else{let o={cause:s};e.abort(new Error("Cannot change the views of the stream; another one follows",o))}}finally{this.#o=!1}}}#g(t){if(this.#f===void 0){this.#f={failure:t},this.#i!==void 0&&this.#l(void 0);for(let e of[...this.#s.values()])e.end(t)}}};function lt(n,t={}){return new Y(n,t)}function ut(n){let t=Math.floor(n/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*60?\`\${t}s\`:t<10*60?C(t,60,"m",1,"s"):t<3*3600?\`\${Math.floor(t/60)}m\`:t<8*3600?C(t,3600,"h",60,"m"):t<2*86400?\`\${Math.floor(t/3600)}h\`:t<8*86400?C(t,86400,"d",3600,"h"):t<2*31536e3?\`\${Math.floor(t/86400)}d\`:t<8*31536e3?C(t,31536e3,"y",86400,"d"):\`\${Math.floor(t/31536e3)}y\`}function C(n,t,e,s,o){let i=Math.floor(n%t/s);return\`\${Math.floor(n/t)}\${e}\${i===0?"":\`\${i}\${o}\`}\`}var N=class{#t;#e;#n=[];#s;#r=[];#i=0;#a=0;#o={key:void 0,index:0};#c=!1;constructor(t,e){this.#t=t,this.#e=e;let{scroller:s,rows:o}=t;s.addEventListener("scroll",()=>this.#u()),addEventListener("resize",()=>this.#u()),s.addEventListener("keydown",i=>this.#w(i)),o.addEventListener("click",i=>{let r=[...o.rows].findIndex(a=>a.contains(i.target));r>=0&&this.#l(this.#i+r)})}get#f(){return Math.max(1,Math.floor(this.#t.scroller.clientHeight/28)-1)}reset(t){this.#n=t,this.#s=void 0,this.#o={key:void 0,index:0},this.#t.table.setAttribute("aria-colcount",String(t.length)),this.#t.heads.replaceChildren(...t.map(e=>this.#m(e))),this.toTop(),this.show([],0,0)}toTop(){this.#o={key:void 0,index:0},this.#t.scroller.scrollTop=0,this.#u()}focus(){this.#h(this.#o.index)}show(t,e,s){this.#r=t,this.#i=e,this.#a=s;let{scroller:o,table:i,before:r,after:a,rows:c}=this.#t,f=document.activeElement===o||c.contains(document.activeElement);i.setAttribute("aria-rowcount",String(s+1)),r.style.height=\`\${e*28}px\`,a.style.height=\`\${Math.max(0,s-e-t.length)*28}px\`;let l=t.findIndex(({key:w})=>w===this.#o.key);for(l>=0&&(this.#o={key:this.#o.key,index:e+l}),this.#o={...this.#o,index:Math.max(0,Math.min(this.#o.index,s-1))};c.rows.length>t.length;)c.deleteRow(-1);t.forEach((w,g)=>this.#d(c.rows[g]??c.insertRow(),w,e+g)),(this.#c||f)&&this.#p()}refresh(){this.show(this.#r,this.#i,this.#a)}#d(t,{object:e},s){let o=s===this.#o.index;for(q(t,"aria-rowindex",String(s+2)),q(t,"aria-selected",String(o)),q(t,"tabindex",o?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:i},r)=>{let a=t.cells[r]??t.insertCell(),c=e===null?"":i(e);a.textContent!==c&&(a.textContent=c,a.title=c)})}#m({title:t,sortKeys:e}){let s=document.createElement("th");s.scope="col";let o=document.createElement("button");return o.type="button",o.textContent=t,o.addEventListener("click",()=>{let[i,r]=e;this.#s=this.#s===i?r:this.#s===r?void 0:i;for(let a of this.#t.heads.cells)a.removeAttribute("aria-sort");this.#s!==void 0&&s.setAttribute("aria-sort",this.#s===i?"ascending":"descending"),this.#e.onSort(this.#s),this.toTop()}),s.append(o),s}#u(){let{scroller:t}=this.#t,e=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((e-30)/30)*30),o=Math.ceil((this.#f+4*30)/30)*30;this.#e.onWindow({offset:s,limit:o})}#w(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:e}=this.#o,s={ArrowDown:e+1,ArrowUp:e-1,PageDown:e+this.#f,PageUp:e-this.#f,Home:0,End:this.#a-1};if(t.key==="Enter")this.#l(e);else if(Object.hasOwn(s,t.key))this.#h(s[t.key]);else return;t.preventDefault()}#l(t){let e=this.#r[t-this.#i];e!==void 0&&(this.#h(t),this.#e.onOpen(e.key))}#h(t){let e=Math.max(0,Math.min(t,this.#a-1));this.#o={key:this.#r[e-this.#i]?.key,index:e};let{scroller:s}=this.#t,o=e*28,i=s.clientHeight-2*28;o<s.scrollTop?s.scrollTop=o:o>s.scrollTop+i&&(s.scrollTop=o-i),this.#c=!0,this.refresh()}#p(){let t=this.#t.rows.rows[this.#o.index-this.#i];if(t===void 0)return this.#t.scroller.focus({preventScroll:!0});this.#c=!1,this.#o={...this.#o,key:this.#r[this.#o.index-this.#i].key},t.focus({preventScroll:!0})}};function q(n,t,e){n.getAttribute(t)!==e&&n.setAttribute(t,e)}var k=class{#t=[];#e;sample(t){let e=this.#e;this.#e=t,this.#t.push(t===void 0||e===void 0?0:Math.max(0,t-e)),this.#t.length>60&&this.#t.shift()}get perSecond(){return this.#t.at(-1)??0}path(t,e){let s=Math.max(1,...this.#t),o=60-this.#t.length;return this.#t.map((i,r)=>{let a=(o+r)/59*t;return\`\${r===0?"M":"L"}\${a.toFixed(1)} \${(e-1-i/s*(e-2)).toFixed(1)}\`}).join("")}};function dt(n){return K(n,"").join(\`
\`).trimStart()}function K(n,t){if(Array.isArray(n))return n.length===0?[" []"]:["",...n.flatMap(e=>Ut(e,t))];if(typeof n=="object"&&n!==null){let e=Object.keys(n).sort();return e.length===0?[" {}"]:["",...e.flatMap(s=>jt(s,n[s],t))]}return typeof n=="string"?Gt(n,t):[\` \${JSON.stringify(n)??"null"}\`]}function jt(n,t,e){let[s,...o]=K(t,Array.isArray(t)?e:\`\${e}  \`);return[\`\${e}\${pt.test(n)&&!mt.test(n)?n:wt(n)}:\${s}\`,...o]}function Ut(n,t){let e=\`\${t}  \`,[s,...o]=K(n,e);return s!==""?[\`\${t}-\${s}\`,...o]:[\`\${t}- \${o[0].slice(e.length)}\`,...o.slice(1)]}var pt=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,mt=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Pt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Gt(n,t){if(pt.test(n)&&!mt.test(n))return[\` \${n}\`];if(!Pt.test(n))return[\` \${wt(n)}\`];let e=n.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[n.endsWith(\`
\`)?" |":" |-",...e.map(o=>o===""?"":s+o)]}function wt(n){return JSON.stringify(n).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var gt={title:"Name",textOf:({metadata:n})=>n.name,sortKeys:["metadata.name","-metadata.name"]},Yt={title:"Namespace",textOf:({metadata:n})=>n.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},bt={title:"Age",textOf:({metadata:{creationTimestamp:n}})=>n?ut(Math.max(0,Date.now()-Date.parse(n))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(n){return document.getElementById(n)}var _=h("collection"),M=h("filter"),xt=h("details"),W=h("state"),V=new Map,X=new k,At=!1,m,u,Et,x,J=lt(new URL(".",location.href),{onCollection:n=>{V.set(n.name,n),L()},onConnected:n=>{At=n,L()}}),B=h("scroller"),d=new N({scroller:B,table:B.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:({offset:n,limit:t})=>{u===void 0||u.request.offset===n&&u.request.limit===t||u.replace({offset:n,limit:t})},onSort:n=>u?.replace({sortBy:n===void 0?[]:[n]}),onOpen:Kt});async function z(n,t){for await(let e of n.changes())t()}function L(){let n=m&&V.get(m.name),t=At?n?.state??"connecting":"disconnected";W.textContent!==t&&(W.textContent=t),W.className=t==="live"?"live":"";let{total:e=0,hasSynced:s=!1}=u??{},o=n?.objects!==void 0&&n.objects!==e?\` of \${n.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${e.toLocaleString("en")}\${o} objects\`:"",h("empty").hidden=!s||e>0}function St(n){m=n,Z(),u?.[Symbol.dispose](),Et?.[Symbol.dispose]();let{name:t,isTable:e,kind:s}=n;document.title=\`\${s}: informer\`,B.querySelector("table").setAttribute("aria-label",t);let o=e?["metadata.name","cells"]:["metadata.name"],i=u=J.view({of:t,search:M.value,fields:o,offset:0,limit:150}),r=Et=e?J.view({of:t,fields:["columns"],limit:1}):void 0;d.reset(r===void 0?yt(n,void 0):[]);let a="";r!==void 0&&z(r,()=>{let c=r.rows()[0]?.object?.columns,f=JSON.stringify(c?.map(l=>l.name));c===void 0||f===a||(a=f,d.reset(yt(n,c)),i.hasSynced&&d.show(i.rows(),i.offset,i.total))}),z(i,()=>{d.show(i.rows(),i.offset,i.total),L()}),L()}function yt({scope:n},t){let e=t?.flatMap(({name:s,priority:o,format:i},r)=>o>0?[]:s==="Age"?[bt]:i==="name"?[gt]:[{title:s,textOf:({cells:a})=>qt(a?.[r]),sortKeys:[\`cells.\${r}\`,\`-cells.\${r}\`]}]);return[...n==="Namespaced"?[Yt]:[],...e??[gt,bt]]}function qt(n){return n==null?"":typeof n=="object"?JSON.stringify(n):String(n)}function Kt(n){x?.view[Symbol.dispose]();let[t,e]=n.split("/").reverse(),s=J.view({of:m.name,...e===void 0?{}:{namespace:e},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...m.isTable?{fields:["object"]}:{},limit:1});x={key:n,view:s},h("title").textContent=n,h("yaml").textContent="",xt.hidden=!1,z(s,()=>{let o=s.rows()[0]?.object,i=o?dt(m.isTable?o.object:o):\`\${n} is gone\`;h("yaml").textContent!==i&&(h("yaml").textContent=i)}),h("yaml").focus()}function Z(){x!==void 0&&(x.view[Symbol.dispose](),x=void 0,xt.hidden=!0)}h("close").addEventListener("click",()=>{Z(),d.focus()});addEventListener("keydown",n=>{let t=n.target instanceof HTMLInputElement||n.target instanceof HTMLSelectElement;n.key==="/"&&!t?(n.preventDefault(),M.focus(),M.select()):n.key==="Escape"&&x!==void 0?(Z(),d.focus()):(n.key==="Escape"||n.key==="Enter")&&n.target===M&&d.focus()});var Mt;M.addEventListener("input",()=>{clearTimeout(Mt),Mt=setTimeout(()=>{u?.replace({search:M.value}),d.toTop()},150)});setInterval(()=>{X.sample(m&&V.get(m.name)?.events),h("plot").querySelector("path").setAttribute("d",X.path(120,24)),h("per_second").textContent=\`\${X.perSecond} events/s\`,d.refresh()},1e3);var{collections:F}=await(await fetch(new URL("api",location.href))).json();_.replaceChildren(...F.map(({name:n})=>new Option(n,n)));_.addEventListener("change",()=>St(F[_.selectedIndex]));St(F[_.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-3RpIkQZ2K1Vztc5NxM4+5ZLM5Em1rzH2IisFZIPMYN8='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
