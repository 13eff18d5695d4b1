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
<script type="module">var N=class{#e=new AbortController;#t;#n=()=>this.abort(this.#s?.reason);constructor(...t){if(this.#t=t,this.#s!==void 0)this.#n();else for(let n of t)n?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#t.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#s(){return this.#t.find(t=>t?.aborted)}get signal(){return this.#e.signal}abort(t){this.release(),this.#e.abort(t)}release(){for(let t of this.#t)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var T=class{#e;#t="new";#n;#s;#o=Promise.resolve();constructor(t){this.#e=t===void 0?[]:[t]}wait(){return new Promise(t=>this.#s=t)}endWith(t){this.#e.push(t)}wake(){this.#s?.()}end(t){if(this.#t!=="over"){this.#t="over",this.#n=t;for(let n of this.#e)n.removeEventListener("abort",this.#i);this.finish(),this.wake()}}next(){let t=this.#o.then(this.#a);return this.#o=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#i=()=>this.end();#a=async()=>{for(this.#t==="new"&&this.#c();this.#r;){let n=this.poll();if(n!==void 0)return{done:!1,value:n};this.#r&&await this.wait()}let t=this.#n;if(this.#n=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#r(){return this.#t==="open"}#c(){if(this.#e.some(({aborted:t})=>t))return this.end();this.#t="open";for(let t of this.#e)t.addEventListener("abort",this.#i,{once:!0});try{this.begin()}catch(t){this.end({error:t})}}};var Zt=2n**63n-1n;function Te(e,t){if(t.rows!==void 0)return[...t.rows];for(let n of t.changes){if(n.type==="changed"){e[n.to]=n.row;continue}n.type!=="entered"&&e.splice(n.from,1),n.type!=="left"&&e.splice(n.to,0,n.row)}return e}function ee(e,t={}){let{signal:n,persistent:s=!0}=t;if(n?.aborted)return Promise.reject(n.reason);let r,i,o=new Promise((...M)=>[r,i]=M),a,u=Date.now(),f=e>0?Math.trunc(e):0;function m(M){let q=M>2147483647;a=setTimeout(q?()=>m(f-(Date.now()-u)):A,q?2147483647:M),s||Deno.unrefTimer(Number(a))}function A(){n?.removeEventListener("abort",O),r()}function O(){clearTimeout(a),i(n?.reason)}return m(f),n?.addEventListener("abort",O,{once:!0}),o}function Re(e,t){let{initialMs:n=800,maxMs:s=3e4,factor:r=2,jitter:i=1}=t;return Math.min(n*Math.min(r**e,Number.MAX_VALUE),s/(1+i))*(1+Math.random()*i)}function R(){return performance.now()}var U=2**31-1,G=class{#e;#t;constructor(t){this.#e=()=>{this.#t=void 0,t()}}get isArmed(){return this.#t!==void 0}arm(t){if(this[Symbol.dispose](),t<=U)this.#t=setTimeout(this.#e,Math.max(0,Math.ceil(t)));else if(t!==1/0){let n=R()+t;this.#t=setTimeout(()=>this.arm(n-R()),U)}}[Symbol.dispose](){this.#t!==void 0&&(clearTimeout(this.#t),this.#t=void 0)}};async function Ie(e,t={}){let n=R()+e,s=e;for(;s>U;s=n-R())await ee(U,t);await ee(s,t)}function v(e){try{return e instanceof Error?e.message:String(e)}catch{return"a value that has no text"}}var at=8;function I(e){let t=[];for(let n=e;n!==void 0&&t.length<at&&!t.includes(n)&&(t.push(n),n instanceof Error);)n=n.cause??(n instanceof AggregateError?n.errors[0]:void 0);return t}function ct(e){let t="";for(let n of I(e)){let s=ut(v(n))||(n instanceof Error?n.name:""),r=n instanceof Error&&n.name==="NotCapable"&&t.includes("--allow-");s===""||r||t.includes(s)||(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`)}return t}function ut(e){return e.trim().split(/\\s*\\n\\s*/).join(" ")}var Ce="[redacted]",je="secret|token|passw(?:or)?d|passphrase|credential|key",dt=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,De(\`(?:\${je})["']? ?[:=] ?\`),De(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${je})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function De(e,t=""){return new RegExp(\`(?<=\${e}")[^"]+|(?<=\${e}')[^']+|(?<=\${e})\${t}[^\\\\s"',;]{4,}\`,"gi")}var ft=/[\\w+=-]{32,}/g;function lt(e){return/\\d/.test(e)?/[a-z]/.test(e)&&/[A-Z]/.test(e)||/[a-z\\d]{32}/i.test(e):!1}function ht(e){let t=e.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let n of dt)t=t.replaceAll(n,Ce);return t.replaceAll(ft,n=>lt(n)?Ce:n)}var Pe=6e4,pt=20,_e=600,mt=1e3,J=class{#e=new Map;#t={beganMs:-1/0,lines:0};#n=0;report(t,n,s=""){let r=R(),i=gt(n,s),o=this.#e.get(i);if(o!==void 0&&r-o.writtenMs<Pe){o.repeats++;return}if(r-this.#t.beganMs>=Pe&&(this.#t={beganMs:r,lines:0}),this.#t.lines>=pt){this.#n++;return}this.#t.lines++,this.#e.size>=mt&&this.#e.clear(),this.#e.set(i,{writtenMs:r,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let u=ht(\`\${t}: \${ct(n)}\`),f=u.length>_e?\`\${u.slice(0,_e)}\\u2026\`:u;console.warn(a.length===0?f:\`\${f} (\${a.join("; ")})\`)}};function gt(e,t){let n=I(e).at(-1),s=v(n),r=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,u)=>a.replaceAll(u,""),r.replaceAll(/\\bversion "?\\d+/g,""));return\`\${n instanceof Error?n.name:typeof n}: \${o}\`}var C=class extends Error{name="RelayError";status;constructor(t,n){super(t),this.status=n}};function Le({onError:e},t){let n=new J;return e??(s=>n.report(\`subscription to "\${t}"\`,s))}function se(e,t){let n=new URL(e,globalThis.location?.href);return new URL(t,n.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function re(e,t,n){let{headers:s,fetch:r=globalThis.fetch.bind(globalThis)}=t,i=await r(e,{...n,headers:{...await s?.(),...n.headers}});if(i.ok)return i;let o=await i.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new C(\`Cannot subscribe to \${e}: \${i.status} \${a}\`,i.status)}var ne=class{#e="";push(t){let n=(this.#e+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#e=n.pop(),n.map(yt)}};function yt(e){let t="message",n=[],s;for(let r of e.split(\`
\`)){let i=r.indexOf(":");if(i<1)continue;let o=r.slice(i+(r[i+1]===" "?2:1)),a=r.slice(0,i);a==="event"?t=o:a==="data"?n.push(o):a==="id"&&(s=o)}return{event:t,data:n.join(\`
\`),id:s}}var te=7e4,bt=[408,425,429];async function Ve({request:e,onEvent:t,onDown:n},s){let{signal:r,onError:i}=s;for(let o=0;;o++){r.throwIfAborted();let{address:a,headers:u}=e();try{await wt(a,u,s,f=>{o=0,t(f)})}catch(f){if(r.throwIfAborted(),f instanceof C&&f.status<500&&!bt.includes(f.status))throw f;i(f)}n(),await Ie(Re(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:r})}}async function wt(e,t,n,s){let{signal:r}=n,i=new AbortController,o,a=m=>{o?.cancel(m).catch(()=>{}),i.abort(m)},u=()=>a(r.reason),f=new G(()=>a(new Error(\`Nothing came from \${e} for \${te/1e3} s\`)));r.addEventListener("abort",u,{once:!0});try{f.arm(te);let{body:m}=await re(e,n,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:i.signal});o=m.getReader(),i.signal.throwIfAborted();let A=new TextDecoder,O=new ne;for(;;){let{done:M,value:q}=await o.read();if(M)return i.signal.throwIfAborted();f.arm(te);for(let ot of O.push(A.decode(q,{stream:!0})))s(ot)}}finally{f[Symbol.dispose](),r.removeEventListener("abort",u),a()}}var ie=class{#e;#t=new Set;#n;#s=[];#o;#i;constructor(t,n){this.#n=t,this.#e=n}get request(){return this.#n}get hasSynced(){return this.#o!==void 0}get total(){return this.#o?.total??0}get offset(){return this.#o?.offset??0}rows(){return this.#s}replace(t){this.#n={...this.#n,...t},this.#e.onChange()}changes(t={}){return new oe(t.signal,this.#t,n=>{this.#i===void 0?n.update=this.#o&&this.#a(this.#o):n.end(this.#i.failure)})}accept({total:t,offset:n,rows:s,changes:r}){let i=s===void 0?{total:t,offset:n,changes:r}:{total:t,offset:n,rows:s,changes:r};this.#o=i,this.#s=Te(this.#s,i);for(let o of this.#t)o.update=o.update===void 0?i:this.#a(i),o.wake()}end(t){if(this.#i===void 0){this.#i={failure:t};for(let n of this.#t)n.end(t);this.#e.onEnd()}}[Symbol.dispose](){this.end()}#a({total:t,offset:n}){return{total:t,offset:n,rows:[...this.#s],changes:[]}}},oe=class extends T{update;#e;#t;constructor(t,n,s){super(t),this.#e=n,this.#t=s}poll(){let{update:t}=this;return this.update=void 0,t}begin(){this.#e.add(this),this.#t(this)}finish(){this.#e.delete(this)}},xt=2e3,ae=class{#e;#t;#n;#s=new Map;#o=0;#i;#a=!1;#r=!1;#c=new N;#u;constructor(t,n={}){let{signal:s}=n;this.#e=t,this.#t={...n,onError:Le(n,t)},this.#n=new N(s),Promise.resolve().then(()=>this.#m()).catch(r=>{this.#n.release(),this.#y(s?.aborted?void 0:{error:r})})}get isConnected(){return this.#i!==void 0}view(t){if(this.#u!==void 0)throw new Error("Cannot open a view: the subscription has ended");let n=String(++this.#o),s=new ie(t,{onChange:()=>this.#d(),onEnd:()=>{this.#s.delete(n)&&this.#d()}});return this.#s.set(n,s),this.#d(),s}[Symbol.dispose](){this.#y(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#h(){return JSON.stringify(Object.fromEntries([...this.#s].map(([t,{request:n}])=>[t,n])))}#m(){let{signal:t}=this.#n;return Ve({request:()=>{let n=\`?views=\${encodeURIComponent(this.#h())}\`;return this.#a=n.length>xt,{address:se(this.#e,\`views\${this.#a?"":n}\`)}},onEvent:n=>this.#g(n),onDown:()=>this.#f(void 0)},{...this.#t,signal:t,fetch:(n,s)=>this.#l(n,s)})}#l(t,n){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#t;return this.#c=new N(n.signal??void 0),s(t,{...n,signal:this.#c.signal})}#g({event:t,data:n}){if(this.#u===void 0){if(t==="stream")this.#f(JSON.parse(n).id);else if(t==="collection")this.#t.onCollection?.(JSON.parse(n));else if(t==="view"){let s=JSON.parse(n);this.#s.get(s.view)?.accept(s)}}}#f(t){this.#i=t,this.#t.onConnected?.(t!==void 0),this.#a&&this.#p()}#d(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#r&&this.#i!==void 0&&this.#u===void 0;){this.#a=!1,this.#r=!0;let t=se(this.#e,\`views/\${this.#i}\`),n=this.#c;try{let s={"content-type":"application/json"},r={method:"POST",body:this.#h(),headers:s,signal:n.signal};await re(t,this.#t,r)}catch(s){if(s instanceof C&&s.status===400)this.#t.onError(s);else{let r={cause:s};n.abort(new Error("Cannot change the views of the stream; another one follows",r))}}finally{this.#r=!1}}}#y(t){if(this.#u===void 0){this.#u={failure:t},this.#i!==void 0&&this.#f(void 0);for(let n of[...this.#s.values()])n.end(t)}}};function ze(e,t={}){return new ae(e,t)}function j(e){return typeof e=="object"&&e!==null&&!Array.isArray(e)}function F(e){return j(e)?e:{}}function B(e){return typeof e=="string"||typeof e=="number"||typeof e=="boolean"?String(e):""}function l(e,...t){let n=e;for(let s of t){if(typeof n!="object"||n===null||!Object.hasOwn(n,s))return;n=n[s]}return n}function y(e,t,...n){return n.map(s=>({group:e,version:t,scope:"Namespaced",subresources:[],...s}))}var b=["status"],ce=["scale","status"],Nn=[...y("","v1",{plural:"componentstatuses",kind:"ComponentStatus",scope:"Cluster",shortNames:["cs"],verbs:["get","list"],warning:"v1 ComponentStatus is deprecated in v1.19+"},{plural:"configmaps",kind:"ConfigMap",shortNames:["cm"]},{plural:"endpoints",kind:"Endpoints",shortNames:["ep"],singular:"endpoints"},{plural:"events",kind:"Event",shortNames:["ev"],fields:["involvedObject.kind","involvedObject.namespace","involvedObject.name","involvedObject.uid","involvedObject.apiVersion","involvedObject.resourceVersion","involvedObject.fieldPath","reason","reportingComponent","type"]},{plural:"limitranges",kind:"LimitRange",shortNames:["limits"]},{plural:"namespaces",kind:"Namespace",scope:"Cluster",shortNames:["ns"],subresources:["finalize","status"],fields:["status.phase"],returnsDeleted:!0,verbs:["create","delete","get","list","patch","update","watch"]},{plural:"nodes",kind:"Node",scope:"Cluster",shortNames:["no"],subresources:b,fields:["spec.unschedulable"]},{plural:"persistentvolumeclaims",kind:"PersistentVolumeClaim",shortNames:["pvc"],subresources:b},{plural:"persistentvolumes",kind:"PersistentVolume",scope:"Cluster",shortNames:["pv"],subresources:b},{plural:"pods",kind:"Pod",shortNames:["po"],categories:["all"],subresources:b,generation:!0,returnsDeleted:!0,fields:["spec.nodeName","spec.restartPolicy","spec.schedulerName","spec.serviceAccountName","spec.hostNetwork","status.phase","status.podIP","status.nominatedNodeName"]},{plural:"secrets",kind:"Secret",fields:["type"]},{plural:"serviceaccounts",kind:"ServiceAccount",shortNames:["sa"],returnsDeleted:!0},{plural:"services",kind:"Service",shortNames:["svc"],categories:["all"],subresources:b,returnsDeleted:!0,fields:["spec.clusterIP","spec.type"]}),...y("apiextensions.k8s.io","v1",{plural:"customresourcedefinitions",kind:"CustomResourceDefinition",scope:"Cluster",shortNames:["crd","crds"],categories:["api-extensions"],subresources:b,generation:!0}),...y("apps","v1",{plural:"controllerrevisions",kind:"ControllerRevision"},{plural:"daemonsets",kind:"DaemonSet",shortNames:["ds"],categories:["all"],subresources:b,generation:!0},{plural:"deployments",kind:"Deployment",shortNames:["deploy"],categories:["all"],subresources:ce,generation:!0},{plural:"replicasets",kind:"ReplicaSet",shortNames:["rs"],categories:["all"],subresources:ce,generation:!0,fields:["status.replicas"]},{plural:"statefulsets",kind:"StatefulSet",shortNames:["sts"],categories:["all"],subresources:ce,generation:!0}),...y("batch","v1",{plural:"cronjobs",kind:"CronJob",shortNames:["cj"],categories:["all"],subresources:b,generation:!0},{plural:"jobs",kind:"Job",categories:["all"],subresources:b,generation:!0,fields:["status.successful"]}),...y("coordination.k8s.io","v1",{plural:"leases",kind:"Lease",unconditionalUpdate:!1}),...y("discovery.k8s.io","v1",{plural:"endpointslices",kind:"EndpointSlice",generation:!0}),...y("events.k8s.io","v1",{plural:"events",kind:"Event",shortNames:["ev"],fields:["regarding.kind","regarding.namespace","regarding.name","regarding.uid","regarding.apiVersion","regarding.resourceVersion","regarding.fieldPath","reason","reportingController","type"]}),...y("networking.k8s.io","v1",{plural:"ingresses",kind:"Ingress",shortNames:["ing"],subresources:b,generation:!0},{plural:"networkpolicies",kind:"NetworkPolicy",shortNames:["netpol"],generation:!0}),...y("policy","v1",{plural:"poddisruptionbudgets",kind:"PodDisruptionBudget",shortNames:["pdb"],subresources:b,generation:!0}),...y("rbac.authorization.k8s.io","v1",{plural:"clusterrolebindings",kind:"ClusterRoleBinding",scope:"Cluster"},{plural:"clusterroles",kind:"ClusterRole",scope:"Cluster"},{plural:"rolebindings",kind:"RoleBinding"},{plural:"roles",kind:"Role"}),...y("storage.k8s.io","v1",{plural:"storageclasses",kind:"StorageClass",scope:"Cluster",shortNames:["sc"]})];var ue="/v1/events",Et="events.k8s.io/v1/events",de=[["eventTime","eventTime"],["series","series"],["reportingController","reportingComponent"],["reportingInstance","reportingInstance"],["action","action"],["reason","reason"],["regarding","involvedObject"],["related","related"],["note","message"],["type","type"],["deprecatedSource","source"],["deprecatedFirstTimestamp","firstTimestamp"],["deprecatedLastTimestamp","lastTimestamp"],["deprecatedCount","count"]],$t=[6,5,8,10,11,12,13,9,0,1,4,7,2,3],St=$t.map(e=>[de[e][1],de[e][0]]),vt={[ue]:{involvedObject:{},source:{},firstTimestamp:null,lastTimestamp:null,eventTime:null,reportingComponent:"",reportingInstance:""},[Et]:{eventTime:null,regarding:{},deprecatedSource:{},deprecatedFirstTimestamp:null,deprecatedLastTimestamp:null}};function fe(e,t){let[n,s]=[t===ue?"v1":"events.k8s.io/v1",vt[t]],r={kind:"Event",apiVersion:n,metadata:e.metadata};for(let[i,o]of t===ue?St:de){let a=e[o];a==null||a===""||a===0||j(a)&&Object.keys(a).length===0?s[i]!==void 0&&(r[i]=s[i]):r[i]=a}return r}var kt=Symbol.for("nodejs.util.inspect.custom"),D=10,At=new URL("../",import.meta.url).href,Fe=3,le=class extends Error{name="InformerError";constructor(t,n={}){super(t,Nt(t,n.cause))}toJSON(){return Ot(this)}[kt](){return Mt(this)}};function Ot(e){return I(e).reduceRight((n,s)=>({name:he(s),message:v(s),...n===void 0?{}:{cause:n}}),void 0)??{name:he(e),message:v(e)}}function Nt(e,t){let n=I(t).find(s=>!(e??"").includes(v(s)));return n===void 0?void 0:{cause:n}}function Mt(e){let n=I(e).slice(0,D-Fe),s=n.length-1,r=s===0?D-1:Math.min(Fe,D-n.length),i=[];for(let[o,a]of n.entries()){let u=\`\${he(a)}: \${v(a)}\`;i.push(o===0?u:\`Caused by: \${u}\`),o===0?i.push(...qe(a,r)):o===s&&i.push(...qe(a,Math.max(0,D-i.length))),o===0&&(i.length=Math.min(i.length,D-s))}return i.flatMap(o=>o.split(\`
\`)).slice(0,D).join(\`
\`)}function qe(e,t){let s=(e instanceof Error?e.stack??"":"").split(\`
\`).filter(i=>/^\\s+at /.test(i)&&!/\\b(?:ext|node):/.test(i)),r=s.filter(i=>!i.includes(At)&&/:\\d+:\\d+\\)?$/.test(i));return(r.length>0?r:s).slice(0,t)}function he(e){return e instanceof Error?e.name:typeof e}var Cn=5*6e4;var Hn=new TextEncoder,Wn=new TextDecoder;var Kn=Object.freeze({});var P=60,_=60*P,L=24*_,H=365*L;function be(e){let t=Math.floor(e/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*P?\`\${t}s\`:t<10*P?W(t,P,"m",1,"s"):t<3*_?\`\${Math.floor(t/P)}m\`:t<8*_?W(t,_,"h",P,"m"):t<2*L?\`\${Math.floor(t/_)}h\`:t<8*L?W(t,L,"d",_,"h"):t<2*H?\`\${Math.floor(t/L)}d\`:t<8*H?W(t,H,"y",L,"d"):\`\${Math.floor(t/H)}y\`}function W(e,t,n,s,r){let i=Math.floor(e%t/s);return\`\${Math.floor(e/t)}\${n}\${i===0?"":\`\${i}\${r}\`}\`}var K="<unknown>",x="<none>";function we(e,t){let n=typeof e=="string"?Date.parse(e):NaN;return Number.isNaN(n)?K:be(t-n)}function c(e,t,n,s={}){return{name:e,type:"string",format:"",priority:0,description:t,...s,cell:n}}var p={priority:1},pe={type:"integer"},Rt=c("Name","Name of the object.",e=>d(e,"metadata","name"),{format:"name"}),w=c("Age","Time since creation.",(e,t)=>we(l(e,"metadata","creationTimestamp"),t)),rs=c("Created At","Time of creation.",e=>d(e,"metadata","creationTimestamp"),{type:"date"});function d(e,...t){let n=l(e,...t);return typeof n=="string"?n:""}function E(e,...t){let n=l(e,...t);return typeof n=="number"?n:0}function g(e,...t){let n=l(e,...t);return Array.isArray(n)?n.filter(j):[]}function Ue(e,...t){return t.reduce((n,s)=>n+Object.keys(F(e[s])).length,0)}var me=c("Containers","Names of the containers.",e=>g(e,"spec","template","spec","containers").map(({name:t})=>B(t)).join(","),p),ge=c("Images","Images of the containers.",e=>g(e,"spec","template","spec","containers").map(({image:t})=>B(t)).join(","),p),Ge=c("Selector","Selector of the pods.",e=>Be(l(e,"spec","selector","matchLabels")),p);function Be(e){let t=Object.entries(F(e)).map(([n,s])=>\`\${n}=\${s}\`);return t.length===0?x:t.sort().join(",")}function ye(e){let t=l(e,"spec","replicas");return typeof t=="number"?t:1}var It=[c("Last Seen","Time since the last occurrence.",Ct),c("Type","Type of the event.",e=>d(e,"type")),c("Reason","Reason of the event.",e=>d(e,"reason")),c("Object","The object that the event is about.",e=>{let t=d(e,"involvedObject","kind").toLowerCase(),n=d(e,"involvedObject","name");return n===""?t:\`\${t}/\${n}\`}),c("Subobject","The part of that object.",e=>d(e,"involvedObject","fieldPath"),p),c("Source","The component that reported the event.",e=>{let t=d(e,"source","component")||d(e,"reportingComponent"),n=d(e,"source","host")||d(e,"reportingInstance");return n===""?t:\`\${t}, \${n}\`},p),c("Message","A description for people.",e=>d(e,"message").trim()),c("First Seen","Time since the first occurrence.",He,p),c("Count","Number of occurrences.",e=>l(e,"series")===void 0?E(e,"count")||1:E(e,"series","count"),p),{...Rt,priority:1}],is=It.map(e=>({...e,cell:(t,n)=>e.cell(fe(t,"/v1/events"),n)}));function He(e,t){return we(l(e,"firstTimestamp")??l(e,"eventTime"),t)}function Ct(e,t){let n=l(e,"series")===void 0?l(e,"lastTimestamp"):l(e,"series","lastObservedTime");return n==null?He(e,t):we(n,t)}var os={"/configmaps":[c("Data","Number of entries.",e=>Ue(e,"data","binaryData")),w],"/secrets":[c("Type","Type of the secret.",e=>d(e,"type")),c("Data","Number of entries.",e=>Ue(e,"data")),w],"/namespaces":[c("Status","Phase of the namespace.",e=>d(e,"status","phase")),w],"/nodes":[c("Status","Condition of the node.",Lt),c("Roles","Roles of the node.",Vt),w,c("Version","Version of the kubelet.",e=>d(e,"status","nodeInfo","kubeletVersion")),c("Internal-IP","Internal IP address.",e=>Je(e,"InternalIP"),p),c("External-IP","External IP address.",e=>Je(e,"ExternalIP"),p),c("OS-Image","Operating system.",e=>d(e,"status","nodeInfo","osImage")||K,p),c("Kernel-Version","Kernel version.",e=>d(e,"status","nodeInfo","kernelVersion")||K,p),c("Container-Runtime","Container runtime and its version.",e=>d(e,"status","nodeInfo","containerRuntimeVersion")||K,p)],"/pods":[c("Ready","Ready containers.",jt),c("Status","Phase, or the reason of a container state.",Dt),c("Restarts","Number of container restarts.",e=>String(Pt(e))),w,c("IP","IP address of the pod.",e=>d(e,"status","podIP")||x,p),c("Node","Node of the pod.",e=>d(e,"spec","nodeName")||x,p),c("Nominated Node","Node nominated by preemption.",e=>d(e,"status","nominatedNodeName")||x,p),c("Readiness Gates","Readiness gates that are true.",_t,p)],"/services":[c("Type","Type of the service.",e=>d(e,"spec","type")||"ClusterIP"),c("Cluster-IP","Cluster IP address.",e=>d(e,"spec","clusterIP")||x),c("External-IP","External IP address.",zt),c("Port(s)","Ports of the service.",Ft),w,c("Selector","Selector of the pods.",e=>Be(l(e,"spec","selector")),p)],"apps/deployments":[c("Ready","Ready pods.",e=>\`\${E(e,"status","readyReplicas")}/\${ye(e)}\`),c("Up-to-date","Updated pods.",e=>E(e,"status","updatedReplicas")),c("Available","Available pods.",e=>E(e,"status","availableReplicas")),w,me,ge,Ge],"apps/replicasets":[c("Desired","Desired pods.",ye,pe),c("Current","Current pods.",e=>E(e,"status","replicas"),pe),c("Ready","Ready pods.",e=>E(e,"status","readyReplicas"),pe),w,me,ge,Ge],"apps/statefulsets":[c("Ready","Ready pods.",e=>\`\${E(e,"status","readyReplicas")}/\${ye(e)}\`),w,me,ge],"coordination.k8s.io/leases":[c("Holder","Holder of the lease.",e=>d(e,"spec","holderIdentity")),w]};function jt(e){let t=g(e,"spec","containers").length;return\`\${g(e,"status","containerStatuses").filter(s=>s.ready===!0).length}/\${t}\`}function Dt(e){if(l(e,"metadata","deletionTimestamp")!==void 0)return"Terminating";for(let t of g(e,"status","containerStatuses")){let n=d(t,"state","waiting","reason")||d(t,"state","terminated","reason");if(n!=="")return n}return d(e,"status","reason")||d(e,"status","phase")||"Unknown"}function Pt(e){return g(e,"status","containerStatuses").reduce((t,n)=>t+E(n,"restartCount"),0)}function _t(e){let t=g(e,"spec","readinessGates");if(t.length===0)return x;let n=new Set(g(e,"status","conditions").filter(({status:s})=>s==="True").map(({type:s})=>s));return\`\${t.filter(({conditionType:s})=>n.has(s)).length}/\${t.length}\`}function Lt(e){let t=g(e,"status","conditions").find(({type:s})=>s==="Ready"),n=t===void 0?"Unknown":t.status==="True"?"Ready":"NotReady";return l(e,"spec","unschedulable")===!0?\`\${n},SchedulingDisabled\`:n}function Vt(e){let t="node-role.kubernetes.io/",n=Object.keys(F(l(e,"metadata","labels"))).filter(s=>s.startsWith(t));return n.length===0?x:n.map(s=>s.slice(t.length)).sort().join(",")}function Je(e,t){let n=g(e,"status","addresses").find(s=>s.type===t);return typeof n?.address=="string"?n.address:x}function zt(e){let t=l(e,"spec","externalIPs"),s=[...g(e,"status","loadBalancer","ingress").map(({ip:r,hostname:i})=>r??i),...Array.isArray(t)?t:[]];return s.length>0?s.join(","):d(e,"spec","type")==="LoadBalancer"?"<pending>":x}function Ft(e){let t=g(e,"spec","ports").map(({port:n,nodePort:s,protocol:r="TCP"})=>\`\${n}\${s?\`:\${s}\`:""}/\${r}\`);return t.length===0?x:t.join(",")}var as=new TextEncoder,cs=new TextDecoder;var X=class{#e;#t;#n=[];#s;#o=[];#i=0;#a=0;#r={key:void 0,index:0};#c=!1;constructor(t,n){this.#e=t,this.#t=n;let{scroller:s,rows:r}=t;s.addEventListener("scroll",()=>this.#l()),addEventListener("resize",()=>this.#l()),s.addEventListener("keydown",i=>this.#g(i)),r.addEventListener("click",i=>{let o=[...r.rows].findIndex(a=>a.contains(i.target));o>=0&&this.#f(this.#i+o)})}get#u(){return Math.max(1,Math.floor(this.#e.scroller.clientHeight/28)-1)}reset(t){this.#n=t,this.#s=void 0,this.#r={key:void 0,index:0},this.#e.table.setAttribute("aria-colcount",String(t.length)),this.#e.heads.replaceChildren(...t.map(n=>this.#m(n))),this.toTop(),this.show([],0,0)}toTop(){this.#r={key:void 0,index:0},this.#e.scroller.scrollTop=0,this.#l()}focus(){this.#d(this.#r.index)}show(t,n,s){this.#o=t,this.#i=n,this.#a=s;let{scroller:r,table:i,before:o,after:a,rows:u}=this.#e,f=document.activeElement===r||u.contains(document.activeElement);i.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${n*28}px\`,a.style.height=\`\${Math.max(0,s-n-t.length)*28}px\`;let m=t.findIndex(({key:A})=>A===this.#r.key);for(m>=0&&(this.#r={key:this.#r.key,index:n+m}),this.#r={...this.#r,index:Math.max(0,Math.min(this.#r.index,s-1))};u.rows.length>t.length;)u.deleteRow(-1);t.forEach((A,O)=>this.#h(u.rows[O]??u.insertRow(),A,n+O)),(this.#c||f)&&this.#p()}refresh(){this.show(this.#o,this.#i,this.#a)}#h(t,{object:n},s){let r=s===this.#r.index;for(xe(t,"aria-rowindex",String(s+2)),xe(t,"aria-selected",String(r)),xe(t,"tabindex",r?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:i},o)=>{let a=t.cells[o]??t.insertCell(),u=n===null?"":i(n);a.textContent!==u&&(a.textContent=u,a.title=u)})}#m({title:t,sortKeys:n}){let s=document.createElement("th");s.scope="col";let r=document.createElement("button");return r.type="button",r.textContent=t,r.addEventListener("click",()=>{let[i,o]=n;this.#s=this.#s===i?o:this.#s===o?void 0:i;for(let a of this.#e.heads.cells)a.removeAttribute("aria-sort");this.#s!==void 0&&s.setAttribute("aria-sort",this.#s===i?"ascending":"descending"),this.#t.onSort(this.#s),this.toTop()}),s.append(r),s}#l(){let{scroller:t}=this.#e,n=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((n-30)/30)*30),r=Math.ceil((this.#u+4*30)/30)*30;this.#t.onWindow({offset:s,limit:r})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:n}=this.#r,s={ArrowDown:n+1,ArrowUp:n-1,PageDown:n+this.#u,PageUp:n-this.#u,Home:0,End:this.#a-1};if(t.key==="Enter")this.#f(n);else if(Object.hasOwn(s,t.key))this.#d(s[t.key]);else return;t.preventDefault()}#f(t){let n=this.#o[t-this.#i];n!==void 0&&(this.#d(t),this.#t.onOpen(n.key))}#d(t){let n=Math.max(0,Math.min(t,this.#a-1));this.#r={key:this.#o[n-this.#i]?.key,index:n};let{scroller:s}=this.#e,r=n*28,i=s.clientHeight-2*28;r<s.scrollTop?s.scrollTop=r:r>s.scrollTop+i&&(s.scrollTop=r-i),this.#c=!0,this.refresh()}#p(){let t=this.#e.rows.rows[this.#r.index-this.#i];if(t===void 0)return this.#e.scroller.focus({preventScroll:!0});this.#c=!1,this.#r={...this.#r,key:this.#o[this.#r.index-this.#i].key},t.focus({preventScroll:!0})}};function xe(e,t,n){e.getAttribute(t)!==n&&e.setAttribute(t,n)}var Y=class{#e=[];#t;sample(t){let n=this.#t;this.#t=t,this.#e.push(t===void 0||n===void 0?0:Math.max(0,t-n)),this.#e.length>60&&this.#e.shift()}get perSecond(){return this.#e.at(-1)??0}path(t,n){let s=Math.max(1,...this.#e),r=60-this.#e.length;return this.#e.map((i,o)=>{let a=(r+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(n-1-i/s*(n-2)).toFixed(1)}\`}).join("")}};function We(e){return Ee(e,"").join(\`
\`).trimStart()}function Ee(e,t){if(Array.isArray(e))return e.length===0?[" []"]:["",...e.flatMap(n=>Ut(n,t))];if(typeof e=="object"&&e!==null){let n=Object.keys(e).sort();return n.length===0?[" {}"]:["",...n.flatMap(s=>qt(s,e[s],t))]}return typeof e=="string"?Jt(e,t):[\` \${JSON.stringify(e)??"null"}\`]}function qt(e,t,n){let[s,...r]=Ee(t,Array.isArray(t)?n:\`\${n}  \`);return[\`\${n}\${Ke.test(e)&&!Xe.test(e)?e:Ye(e)}:\${s}\`,...r]}function Ut(e,t){let n=\`\${t}  \`,[s,...r]=Ee(e,n);return s!==""?[\`\${t}-\${s}\`,...r]:[\`\${t}- \${r[0].slice(n.length)}\`,...r.slice(1)]}var Ke=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,Xe=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Gt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Jt(e,t){if(Ke.test(e)&&!Xe.test(e))return[\` \${e}\`];if(!Gt.test(e))return[\` \${Ye(e)}\`];let n=e.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[e.endsWith(\`
\`)?" |":" |-",...n.map(r=>r===""?"":s+r)]}function Ye(e){return JSON.stringify(e).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var Ze={title:"Name",textOf:({metadata:e})=>e.name,sortKeys:["metadata.name","-metadata.name"]},Bt={title:"Namespace",textOf:({metadata:e})=>e.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Qe={title:"Age",textOf:({metadata:{creationTimestamp:e}})=>e?be(Math.max(0,Date.now()-Date.parse(e))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(e){return document.getElementById(e)}var Z=h("collection"),V=h("filter"),st=h("details"),$e=h("state"),Oe=new Map,Se=new Y,rt=!1,k,$,et,z,ve=ze(new URL(".",location.href),{onCollection:e=>{Oe.set(e.name,e),Q()},onConnected:e=>{rt=e,Q()}}),ke=h("scroller"),S=new X({scroller:ke,table:ke.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:({offset:e,limit:t})=>{$===void 0||$.request.offset===e&&$.request.limit===t||$.replace({offset:e,limit:t})},onSort:e=>$?.replace({sortBy:e===void 0?[]:[e]}),onOpen:Wt});async function Ae(e,t){for await(let n of e.changes())t()}function Q(){let e=k&&Oe.get(k.name),t=rt?e?.state??"connecting":"disconnected";$e.textContent!==t&&($e.textContent=t),$e.className=t==="live"?"live":"";let{total:n=0,hasSynced:s=!1}=$??{},r=e?.objects!==void 0&&e.objects!==n?\` of \${e.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${n.toLocaleString("en")}\${r} objects\`:"",h("empty").hidden=!s||n>0}function it(e){k=e,Ne(),$?.[Symbol.dispose](),et?.[Symbol.dispose]();let{name:t,isTable:n,kind:s}=e;document.title=\`\${s}: informer\`,ke.querySelector("table").setAttribute("aria-label",t);let r=n?["metadata.name","cells"]:["metadata.name"],i=$=ve.view({of:t,search:V.value,fields:r,offset:0,limit:150}),o=et=n?ve.view({of:t,fields:["columns"],limit:1}):void 0;S.reset(o===void 0?tt(e,void 0):[]);let a="";o!==void 0&&Ae(o,()=>{let u=o.rows()[0]?.object?.columns,f=JSON.stringify(u?.map(m=>m.name));u===void 0||f===a||(a=f,S.reset(tt(e,u)),i.hasSynced&&S.show(i.rows(),i.offset,i.total))}),Ae(i,()=>{S.show(i.rows(),i.offset,i.total),Q()}),Q()}function tt({scope:e},t){let n=t?.flatMap(({name:s,priority:r,format:i},o)=>r>0?[]:s==="Age"?[Qe]:i==="name"?[Ze]:[{title:s,textOf:({cells:a})=>Ht(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...e==="Namespaced"?[Bt]:[],...n??[Ze,Qe]]}function Ht(e){return e==null?"":typeof e=="object"?JSON.stringify(e):String(e)}function Wt(e){z?.view[Symbol.dispose]();let[t,n]=e.split("/").reverse(),s=ve.view({of:k.name,...n===void 0?{}:{namespace:n},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...k.isTable?{fields:["object"]}:{},limit:1});z={key:e,view:s},h("title").textContent=e,h("yaml").textContent="",st.hidden=!1,Ae(s,()=>{let r=s.rows()[0]?.object,i=r?We(k.isTable?r.object:r):\`\${e} is gone\`;h("yaml").textContent!==i&&(h("yaml").textContent=i)}),h("yaml").focus()}function Ne(){z!==void 0&&(z.view[Symbol.dispose](),z=void 0,st.hidden=!0)}h("close").addEventListener("click",()=>{Ne(),S.focus()});addEventListener("keydown",e=>{let t=e.target instanceof HTMLInputElement||e.target instanceof HTMLSelectElement;e.key==="/"&&!t?(e.preventDefault(),V.focus(),V.select()):e.key==="Escape"&&z!==void 0?(Ne(),S.focus()):(e.key==="Escape"||e.key==="Enter")&&e.target===V&&S.focus()});var nt;V.addEventListener("input",()=>{clearTimeout(nt),nt=setTimeout(()=>{$?.replace({search:V.value}),S.toTop()},150)});setInterval(()=>{Se.sample(k&&Oe.get(k.name)?.events),h("plot").querySelector("path").setAttribute("d",Se.path(120,24)),h("per_second").textContent=\`\${Se.perSecond} events/s\`,S.refresh()},1e3);var{collections:Me}=await(await fetch(new URL("api",location.href))).json();Z.replaceChildren(...Me.map(({name:e})=>new Option(e,e)));Z.addEventListener("change",()=>it(Me[Z.selectedIndex]));it(Me[Z.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-Zfc9QqMG8bV7TMeyzsgzHS1R1J5AhAWWaOv0eS1K7ss='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
