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
<script type="module">var C=class{#e=new AbortController;#t;#n=()=>this.abort(this.#s?.reason);constructor(...t){if(this.#t=t,this.#s!==void 0)this.#n();else for(let n of t)n?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#t.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#s(){return this.#t.find(t=>t?.aborted)}get signal(){return this.#e.signal}abort(t){this.release(),this.#e.abort(t)}release(){for(let t of this.#t)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var M=class{#e;#t="new";#n;#s;#o=Promise.resolve();constructor(t){this.#e=t===void 0?[]:[t]}wait(){return new Promise(t=>this.#s=t)}endWith(t){this.#e.push(t)}wake(){this.#s?.()}end(t){if(this.#t!=="over"){this.#t="over",this.#n=t;for(let n of this.#e)n.removeEventListener("abort",this.#r);this.finish(),this.wake()}}next(){let t=this.#o.then(this.#a);return this.#o=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#r=()=>this.end();#a=async()=>{for(this.#t==="new"&&this.#c();this.#i;){let n=this.poll();if(n!==void 0)return{done:!1,value:n};this.#i&&await this.wait()}let t=this.#n;if(this.#n=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#i(){return this.#t==="open"}#c(){if(this.#e.some(({aborted:t})=>t))return this.end();this.#t="open";for(let t of this.#e)t.addEventListener("abort",this.#r,{once:!0});try{this.begin()}catch(t){this.end({error:t})}}};var Qt=2n**63n-1n;function Ne(e,t){if(t.rows!==void 0)return[...t.rows];for(let n of t.changes){if(n.type==="changed"){e[n.to]=n.row;continue}n.type!=="entered"&&e.splice(n.from,1),n.type!=="left"&&e.splice(n.to,0,n.row)}return e}function ee(e,t={}){let{signal:n,persistent:s=!0}=t;if(n?.aborted)return Promise.reject(n.reason);let i,r,o=new Promise((...N)=>[i,r]=N),a,u=Date.now(),d=e>0?Math.trunc(e):0;function m(N){let q=N>2147483647;a=setTimeout(q?()=>m(d-(Date.now()-u)):R,q?2147483647:N),s||Deno.unrefTimer(Number(a))}function R(){n?.removeEventListener("abort",P),i()}function P(){clearTimeout(a),r(n?.reason)}return m(d),n?.addEventListener("abort",P,{once:!0}),o}function Me(e,t){let{initialMs:n=800,maxMs:s=3e4,factor:i=2,jitter:r=1}=t;return Math.min(n*Math.min(i**e,Number.MAX_VALUE),s/(1+r))*(1+Math.random()*r)}function T(){return performance.now()}var G=2**31-1,B=class{#e;#t;constructor(t){this.#e=()=>{this.#t=void 0,t()}}get isArmed(){return this.#t!==void 0}arm(t){if(this[Symbol.dispose](),t<=G)this.#t=setTimeout(this.#e,Math.max(0,Math.ceil(t)));else if(t!==1/0){let n=T()+t;this.#t=setTimeout(()=>this.arm(n-T()),G)}}[Symbol.dispose](){this.#t!==void 0&&(clearTimeout(this.#t),this.#t=void 0)}};async function Te(e,t={}){let n=T()+e,s=e;for(;s>G;s=n-T())await ee(G,t);await ee(s,t)}function A(e){try{return e instanceof Error?e.message:String(e)}catch{return"a value that has no text"}}var at=8;function $(e){let t=[];for(let n=e;n!==void 0&&t.length<at&&!t.includes(n)&&(t.push(n),n instanceof Error);)n=n.cause??(n instanceof AggregateError?n.errors[0]:void 0);return t}function ct(e){let t="";for(let n of $(e)){let s=ut(A(n))||(n instanceof Error?n.name:""),i=n instanceof Error&&n.name==="NotCapable"&&t.includes("--allow-");s===""||i||t.includes(s)||(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`)}return t}function ut(e){return e.trim().split(/\\s*\\n\\s*/).join(" ")}var $e="[redacted]",Ie="secret|token|passw(?:or)?d|passphrase|credential|key",lt=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,je(\`(?:\${Ie})["']? ?[:=] ?\`),je(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${Ie})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function je(e,t=""){return new RegExp(\`(?<=\${e}")[^"]+|(?<=\${e}')[^']+|(?<=\${e})\${t}[^\\\\s"',;]{4,}\`,"gi")}var dt=/[\\w+=-]{32,}/g;function ft(e){return/\\d/.test(e)?/[a-z]/.test(e)&&/[A-Z]/.test(e)||/[a-z\\d]{32}/i.test(e):!1}function ht(e){let t=e.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let n of lt)t=t.replaceAll(n,$e);return t.replaceAll(dt,n=>ft(n)?$e:n)}var De=6e4,pt=20,Le=600,mt=1e3,J=class{#e=new Map;#t={beganMs:-1/0,lines:0};#n=0;report(t,n,s=""){let i=T(),r=gt(n,s),o=this.#e.get(r);if(o!==void 0&&i-o.writtenMs<De){o.repeats++;return}if(i-this.#t.beganMs>=De&&(this.#t={beganMs:i,lines:0}),this.#t.lines>=pt){this.#n++;return}this.#t.lines++,this.#e.size>=mt&&this.#e.clear(),this.#e.set(r,{writtenMs:i,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let u=ht(\`\${t}: \${ct(n)}\`),d=u.length>Le?\`\${u.slice(0,Le)}\\u2026\`:u;console.warn(a.length===0?d:\`\${d} (\${a.join("; ")})\`)}};function gt(e,t){let n=$(e).at(-1),s=A(n),i=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,u)=>a.replaceAll(u,""),i.replaceAll(/\\bversion "?\\d+/g,""));return\`\${n instanceof Error?n.name:typeof n}: \${o}\`}var I=class extends Error{name="RelayError";status;constructor(t,n){super(t),this.status=n}};function Ve({onError:e},t){let n=new J;return e??(s=>n.report(\`subscription to "\${t}"\`,s))}function se(e,t){let n=new URL(e,globalThis.location?.href);return new URL(t,n.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function ie(e,t,n){let{headers:s,fetch:i=globalThis.fetch.bind(globalThis)}=t,r=await i(e,{...n,headers:{...await s?.(),...n.headers}});if(r.ok)return r;let o=await r.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new I(\`Cannot subscribe to \${e}: \${r.status} \${a}\`,r.status)}var ne=class{#e="";push(t){let n=(this.#e+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#e=n.pop(),n.map(yt)}};function yt(e){let t="message",n=[],s;for(let i of e.split(\`
\`)){let r=i.indexOf(":");if(r<1)continue;let o=i.slice(r+(i[r+1]===" "?2:1)),a=i.slice(0,r);a==="event"?t=o:a==="data"?n.push(o):a==="id"&&(s=o)}return{event:t,data:n.join(\`
\`),id:s}}var te=7e4,bt=[408,425,429];async function Fe({request:e,onEvent:t,onDown:n},s){let{signal:i,onError:r}=s;for(let o=0;;o++){i.throwIfAborted();let{address:a,headers:u}=e();try{await St(a,u,s,d=>{o=0,t(d)})}catch(d){if(i.throwIfAborted(),d instanceof I&&d.status<500&&!bt.includes(d.status))throw d;r(d)}n(),await Te(Me(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:i})}}async function St(e,t,n,s){let{signal:i}=n,r=new AbortController,o,a=m=>{o?.cancel(m).catch(()=>{}),r.abort(m)},u=()=>a(i.reason),d=new B(()=>a(new Error(\`Nothing came from \${e} for \${te/1e3} s\`)));i.addEventListener("abort",u,{once:!0});try{d.arm(te);let{body:m}=await ie(e,n,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:r.signal});o=m.getReader(),r.signal.throwIfAborted();let R=new TextDecoder,P=new ne;for(;;){let{done:N,value:q}=await o.read();if(N)return r.signal.throwIfAborted();d.arm(te);for(let ot of P.push(R.decode(q,{stream:!0})))s(ot)}}finally{d[Symbol.dispose](),i.removeEventListener("abort",u),a()}}var re=class{#e;#t=new Set;#n;#s=[];#o;#r;constructor(t,n){this.#n=t,this.#e=n}get request(){return this.#n}get hasSynced(){return this.#o!==void 0}get total(){return this.#o?.total??0}get offset(){return this.#o?.offset??0}rows(){return this.#s}replace(t){this.#n={...this.#n,...t},this.#e.onChange()}changes(t={}){return new oe(t.signal,this.#t,n=>{this.#r===void 0?n.update=this.#o&&this.#a(this.#o):n.end(this.#r.failure)})}accept({total:t,offset:n,rows:s,changes:i}){let r=s===void 0?{total:t,offset:n,changes:i}:{total:t,offset:n,rows:s,changes:i};this.#o=r,this.#s=Ne(this.#s,r);for(let o of this.#t)o.update=o.update===void 0?r:this.#a(r),o.wake()}end(t){if(this.#r===void 0){this.#r={failure:t};for(let n of this.#t)n.end(t);this.#e.onEnd()}}[Symbol.dispose](){this.end()}#a({total:t,offset:n}){return{total:t,offset:n,rows:[...this.#s],changes:[]}}},oe=class extends M{update;#e;#t;constructor(t,n,s){super(t),this.#e=n,this.#t=s}poll(){let{update:t}=this;return this.update=void 0,t}begin(){this.#e.add(this),this.#t(this)}finish(){this.#e.delete(this)}},wt=2e3,ae=class{#e;#t;#n;#s=new Map;#o=0;#r;#a=!1;#i=!1;#c=new C;#u;constructor(t,n={}){let{signal:s}=n;this.#e=t,this.#t={...n,onError:Ve(n,t)},this.#n=new C(s),Promise.resolve().then(()=>this.#m()).catch(i=>{this.#n.release(),this.#y(s?.aborted?void 0:{error:i})})}get isConnected(){return this.#r!==void 0}view(t){if(this.#u!==void 0)throw new Error("Cannot open a view: the subscription has ended");let n=String(++this.#o),s=new re(t,{onChange:()=>this.#l(),onEnd:()=>{this.#s.delete(n)&&this.#l()}});return this.#s.set(n,s),this.#l(),s}[Symbol.dispose](){this.#y(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#h(){return JSON.stringify(Object.fromEntries([...this.#s].map(([t,{request:n}])=>[t,n])))}#m(){let{signal:t}=this.#n;return Fe({request:()=>{let n=\`?views=\${encodeURIComponent(this.#h())}\`;return this.#a=n.length>wt,{address:se(this.#e,\`views\${this.#a?"":n}\`)}},onEvent:n=>this.#g(n),onDown:()=>this.#d(void 0)},{...this.#t,signal:t,fetch:(n,s)=>this.#f(n,s)})}#f(t,n){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#t;return this.#c=new C(n.signal??void 0),s(t,{...n,signal:this.#c.signal})}#g({event:t,data:n}){if(this.#u===void 0){if(t==="stream")this.#d(JSON.parse(n).id);else if(t==="collection")this.#t.onCollection?.(JSON.parse(n));else if(t==="view"){let s=JSON.parse(n);this.#s.get(s.view)?.accept(s)}}}#d(t){this.#r=t,this.#t.onConnected?.(t!==void 0),this.#a&&this.#p()}#l(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#i&&this.#r!==void 0&&this.#u===void 0;){this.#a=!1,this.#i=!0;let t=se(this.#e,\`views/\${this.#r}\`),n=this.#c;try{let s={"content-type":"application/json"},i={method:"POST",body:this.#h(),headers:s,signal:n.signal};await ie(t,this.#t,i)}catch(s){if(s instanceof I&&s.status===400)this.#t.onError(s);else{let i={cause:s};n.abort(new Error("Cannot change the views of the stream; another one follows",i))}}finally{this.#i=!1}}}#y(t){if(this.#u===void 0){this.#u={failure:t},this.#r!==void 0&&this.#d(void 0);for(let n of[...this.#s.values()])n.end(t)}}};function _e(e,t={}){return new ae(e,t)}function k(e){return typeof e=="object"&&e!==null&&!Array.isArray(e)}function U(e){return k(e)?e:{}}function z(e){return typeof e=="string"||typeof e=="number"||typeof e=="boolean"?String(e):""}function f(e,...t){let n=e;for(let s of t){if(typeof n!="object"||n===null||!Object.hasOwn(n,s))return;n=n[s]}return n}function y(e,t,...n){return n.map(s=>({group:e,version:t,scope:"Namespaced",subresources:[],...s}))}var b=["status"],ce=["scale","status"],Cn=[...y("","v1",{plural:"componentstatuses",kind:"ComponentStatus",scope:"Cluster",shortNames:["cs"],verbs:["get","list"],warning:"v1 ComponentStatus is deprecated in v1.19+"},{plural:"configmaps",kind:"ConfigMap",shortNames:["cm"]},{plural:"endpoints",kind:"Endpoints",shortNames:["ep"],singular:"endpoints"},{plural:"events",kind:"Event",shortNames:["ev"],fields:["involvedObject.kind","involvedObject.namespace","involvedObject.name","involvedObject.uid","involvedObject.apiVersion","involvedObject.resourceVersion","involvedObject.fieldPath","reason","reportingComponent","type"]},{plural:"limitranges",kind:"LimitRange",shortNames:["limits"]},{plural:"namespaces",kind:"Namespace",scope:"Cluster",shortNames:["ns"],subresources:["finalize","status"],fields:["status.phase"],returnsDeleted:!0,verbs:["create","delete","get","list","patch","update","watch"]},{plural:"nodes",kind:"Node",scope:"Cluster",shortNames:["no"],subresources:b,fields:["spec.unschedulable"]},{plural:"persistentvolumeclaims",kind:"PersistentVolumeClaim",shortNames:["pvc"],subresources:b},{plural:"persistentvolumes",kind:"PersistentVolume",scope:"Cluster",shortNames:["pv"],subresources:b},{plural:"pods",kind:"Pod",shortNames:["po"],categories:["all"],subresources:b,generation:!0,returnsDeleted:!0,fields:["spec.nodeName","spec.restartPolicy","spec.schedulerName","spec.serviceAccountName","spec.hostNetwork","status.phase","status.podIP","status.nominatedNodeName"]},{plural:"secrets",kind:"Secret",fields:["type"]},{plural:"serviceaccounts",kind:"ServiceAccount",shortNames:["sa"],returnsDeleted:!0},{plural:"services",kind:"Service",shortNames:["svc"],categories:["all"],subresources:b,returnsDeleted:!0,fields:["spec.clusterIP","spec.type"]}),...y("apiextensions.k8s.io","v1",{plural:"customresourcedefinitions",kind:"CustomResourceDefinition",scope:"Cluster",shortNames:["crd","crds"],categories:["api-extensions"],subresources:b,generation:!0}),...y("apps","v1",{plural:"controllerrevisions",kind:"ControllerRevision"},{plural:"daemonsets",kind:"DaemonSet",shortNames:["ds"],categories:["all"],subresources:b,generation:!0},{plural:"deployments",kind:"Deployment",shortNames:["deploy"],categories:["all"],subresources:ce,generation:!0},{plural:"replicasets",kind:"ReplicaSet",shortNames:["rs"],categories:["all"],subresources:ce,generation:!0,fields:["status.replicas"]},{plural:"statefulsets",kind:"StatefulSet",shortNames:["sts"],categories:["all"],subresources:ce,generation:!0}),...y("batch","v1",{plural:"cronjobs",kind:"CronJob",shortNames:["cj"],categories:["all"],subresources:b,generation:!0},{plural:"jobs",kind:"Job",categories:["all"],subresources:b,generation:!0,fields:["status.successful"]}),...y("coordination.k8s.io","v1",{plural:"leases",kind:"Lease",unconditionalUpdate:!1}),...y("discovery.k8s.io","v1",{plural:"endpointslices",kind:"EndpointSlice",generation:!0}),...y("events.k8s.io","v1",{plural:"events",kind:"Event",shortNames:["ev"],fields:["regarding.kind","regarding.namespace","regarding.name","regarding.uid","regarding.apiVersion","regarding.resourceVersion","regarding.fieldPath","reason","reportingController","type"]}),...y("networking.k8s.io","v1",{plural:"ingresses",kind:"Ingress",shortNames:["ing"],subresources:b,generation:!0},{plural:"networkpolicies",kind:"NetworkPolicy",shortNames:["netpol"],generation:!0}),...y("policy","v1",{plural:"poddisruptionbudgets",kind:"PodDisruptionBudget",shortNames:["pdb"],subresources:b,generation:!0}),...y("rbac.authorization.k8s.io","v1",{plural:"clusterrolebindings",kind:"ClusterRoleBinding",scope:"Cluster"},{plural:"clusterroles",kind:"ClusterRole",scope:"Cluster"},{plural:"rolebindings",kind:"RoleBinding"},{plural:"roles",kind:"Role"}),...y("storage.k8s.io","v1",{plural:"storageclasses",kind:"StorageClass",scope:"Cluster",shortNames:["sc"]})];var ue="/v1/events",xt="events.k8s.io/v1/events",le=[["eventTime","eventTime"],["series","series"],["reportingController","reportingComponent"],["reportingInstance","reportingInstance"],["action","action"],["reason","reason"],["regarding","involvedObject"],["related","related"],["note","message"],["type","type"],["deprecatedSource","source"],["deprecatedFirstTimestamp","firstTimestamp"],["deprecatedLastTimestamp","lastTimestamp"],["deprecatedCount","count"]],vt=[6,5,8,10,11,12,13,9,0,1,4,7,2,3],Et=vt.map(e=>[le[e][1],le[e][0]]),At={[ue]:{involvedObject:{},source:{},firstTimestamp:null,lastTimestamp:null,eventTime:null,reportingComponent:"",reportingInstance:""},[xt]:{eventTime:null,regarding:{},deprecatedSource:{},deprecatedFirstTimestamp:null,deprecatedLastTimestamp:null}};function de(e,t){let[n,s]=[t===ue?"v1":"events.k8s.io/v1",At[t]],i={kind:"Event",apiVersion:n,metadata:e.metadata};for(let[r,o]of t===ue?Et:le){let a=e[o];a==null||a===""||a===0||k(a)&&Object.keys(a).length===0?s[r]!==void 0&&(i[r]=s[r]):i[r]=a}return i}var Ot=Symbol.for("nodejs.util.inspect.custom"),j=10,Rt=new URL("../",import.meta.url).href,Ue=3,fe=class extends Error{name="InformerError";constructor(t,n={}){super(t,Ct(t,n.cause))}toJSON(){return Pt(this)}[Ot](){return kt(this)}};function Pt(e){return $(e).reduceRight((n,s)=>({name:he(s),message:A(s),...n===void 0?{}:{cause:n}}),void 0)??{name:he(e),message:A(e)}}function Ct(e,t){let n=$(t).find(s=>!(e??"").includes(A(s)));return n===void 0?void 0:{cause:n}}function kt(e){let n=$(e).slice(0,j-Ue),s=n.length-1,i=s===0?j-1:Math.min(Ue,j-n.length),r=[];for(let[o,a]of n.entries()){let u=\`\${he(a)}: \${A(a)}\`;r.push(o===0?u:\`Caused by: \${u}\`),o===0?r.push(...qe(a,i)):o===s&&r.push(...qe(a,Math.max(0,j-r.length))),o===0&&(r.length=Math.min(r.length,j-s))}return r.flatMap(o=>o.split(\`
\`)).slice(0,j).join(\`
\`)}function qe(e,t){let s=(e instanceof Error?e.stack??"":"").split(\`
\`).filter(r=>/^\\s+at /.test(r)&&!/\\b(?:ext|node):/.test(r)),i=s.filter(r=>!r.includes(Rt)&&/:\\d+:\\d+\\)?$/.test(r));return(i.length>0?i:s).slice(0,t)}function he(e){return e instanceof Error?e.name:typeof e}var $n=5*6e4;var zn=new Uint8Array([107,56,115,0]),Hn=new TextDecoder("utf-8",{fatal:!0});var Kn=new Uint8Array,Wn=new TextEncoder;var ss=new TextEncoder,is=new TextDecoder;var rs=Object.freeze({});var D=60,L=60*D,V=24*L,H=365*V;function be(e){let t=Math.floor(e/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*D?\`\${t}s\`:t<10*D?K(t,D,"m",1,"s"):t<3*L?\`\${Math.floor(t/D)}m\`:t<8*L?K(t,L,"h",D,"m"):t<2*V?\`\${Math.floor(t/L)}h\`:t<8*V?K(t,V,"d",L,"h"):t<2*H?\`\${Math.floor(t/V)}d\`:t<8*H?K(t,H,"y",V,"d"):\`\${Math.floor(t/H)}y\`}function K(e,t,n,s,i){let r=Math.floor(e%t/s);return\`\${Math.floor(e/t)}\${n}\${r===0?"":\`\${r}\${i}\`}\`}var W="<unknown>",w="<none>";function Se(e,t){let n=typeof e=="string"?Date.parse(e):NaN;return Number.isNaN(n)?W:be(t-n)}function c(e,t,n,s={}){return{name:e,type:"string",format:"",priority:0,description:t,...s,cell:n}}var p={priority:1},pe={type:"integer"},Tt=c("Name","Name of the object.",e=>l(e,"metadata","name"),{format:"name"}),S=c("Age","Time since creation.",(e,t)=>Se(f(e,"metadata","creationTimestamp"),t)),ps=c("Created At","Time of creation.",e=>l(e,"metadata","creationTimestamp"),{type:"date"});function l(e,...t){let n=f(e,...t);return typeof n=="string"?n:""}function x(e,...t){let n=f(e,...t);return typeof n=="number"?n:0}function g(e,...t){let n=f(e,...t);return Array.isArray(n)?n.filter(k):[]}function Ge(e,...t){return t.reduce((n,s)=>n+Object.keys(U(e[s])).length,0)}var me=c("Containers","Names of the containers.",e=>g(e,"spec","template","spec","containers").map(({name:t})=>z(t)).join(","),p),ge=c("Images","Images of the containers.",e=>g(e,"spec","template","spec","containers").map(({image:t})=>z(t)).join(","),p),Be=c("Selector","Selector of the pods.",e=>ze(f(e,"spec","selector","matchLabels")),p);function ze(e){let t=Object.entries(U(e)).map(([n,s])=>\`\${n}=\${s}\`);return t.length===0?w:t.sort().join(",")}function ye(e){let t=f(e,"spec","replicas");return typeof t=="number"?t:1}var $t=[c("Last Seen","Time since the last occurrence.",It),c("Type","Type of the event.",e=>l(e,"type")),c("Reason","Reason of the event.",e=>l(e,"reason")),c("Object","The object that the event is about.",e=>{let t=l(e,"involvedObject","kind").toLowerCase(),n=l(e,"involvedObject","name");return n===""?t:\`\${t}/\${n}\`}),c("Subobject","The part of that object.",e=>l(e,"involvedObject","fieldPath"),p),c("Source","The component that reported the event.",e=>{let t=l(e,"source","component")||l(e,"reportingComponent"),n=l(e,"source","host")||l(e,"reportingInstance");return n===""?t:\`\${t}, \${n}\`},p),c("Message","A description for people.",e=>l(e,"message").trim()),c("First Seen","Time since the first occurrence.",He,p),c("Count","Number of occurrences.",e=>f(e,"series")===void 0?x(e,"count")||1:x(e,"series","count"),p),{...Tt,priority:1}],ms=$t.map(e=>({...e,cell:(t,n)=>e.cell(de(t,"/v1/events"),n)}));function He(e,t){return Se(f(e,"firstTimestamp")??f(e,"eventTime"),t)}function It(e,t){let n=f(e,"series")===void 0?f(e,"lastTimestamp"):f(e,"series","lastObservedTime");return n==null?He(e,t):Se(n,t)}var gs={"/configmaps":[c("Data","Number of entries.",e=>Ge(e,"data","binaryData")),S],"/secrets":[c("Type","Type of the secret.",e=>l(e,"type")),c("Data","Number of entries.",e=>Ge(e,"data")),S],"/namespaces":[c("Status","Phase of the namespace.",e=>l(e,"status","phase")),S],"/nodes":[c("Status","Condition of the node.",Ft),c("Roles","Roles of the node.",_t),S,c("Version","Version of the kubelet.",e=>l(e,"status","nodeInfo","kubeletVersion")),c("Internal-IP","Internal IP address.",e=>Je(e,"InternalIP"),p),c("External-IP","External IP address.",e=>Je(e,"ExternalIP"),p),c("OS-Image","Operating system.",e=>l(e,"status","nodeInfo","osImage")||W,p),c("Kernel-Version","Kernel version.",e=>l(e,"status","nodeInfo","kernelVersion")||W,p),c("Container-Runtime","Container runtime and its version.",e=>l(e,"status","nodeInfo","containerRuntimeVersion")||W,p)],"/pods":[c("Ready","Ready containers.",jt),c("Status","Phase, or the reason of a container state.",Dt),c("Restarts","Number of container restarts.",e=>String(Lt(e))),S,c("IP","IP address of the pod.",e=>l(e,"status","podIP")||w,p),c("Node","Node of the pod.",e=>l(e,"spec","nodeName")||w,p),c("Nominated Node","Node nominated by preemption.",e=>l(e,"status","nominatedNodeName")||w,p),c("Readiness Gates","Readiness gates that are true.",Vt,p)],"/services":[c("Type","Type of the service.",e=>l(e,"spec","type")||"ClusterIP"),c("Cluster-IP","Cluster IP address.",e=>l(e,"spec","clusterIP")||w),c("External-IP","External IP address.",Ut),c("Port(s)","Ports of the service.",qt),S,c("Selector","Selector of the pods.",e=>ze(f(e,"spec","selector")),p)],"apps/deployments":[c("Ready","Ready pods.",e=>\`\${x(e,"status","readyReplicas")}/\${ye(e)}\`),c("Up-to-date","Updated pods.",e=>x(e,"status","updatedReplicas")),c("Available","Available pods.",e=>x(e,"status","availableReplicas")),S,me,ge,Be],"apps/replicasets":[c("Desired","Desired pods.",ye,pe),c("Current","Current pods.",e=>x(e,"status","replicas"),pe),c("Ready","Ready pods.",e=>x(e,"status","readyReplicas"),pe),S,me,ge,Be],"apps/statefulsets":[c("Ready","Ready pods.",e=>\`\${x(e,"status","readyReplicas")}/\${ye(e)}\`),S,me,ge],"coordination.k8s.io/leases":[c("Holder","Holder of the lease.",e=>l(e,"spec","holderIdentity")),S]};function jt(e){let t=g(e,"spec","containers").length;return\`\${g(e,"status","containerStatuses").filter(s=>s.ready===!0).length}/\${t}\`}function Dt(e){if(f(e,"metadata","deletionTimestamp")!==void 0)return"Terminating";for(let t of g(e,"status","containerStatuses")){let n=l(t,"state","waiting","reason")||l(t,"state","terminated","reason");if(n!=="")return n}return l(e,"status","reason")||l(e,"status","phase")||"Unknown"}function Lt(e){return g(e,"status","containerStatuses").reduce((t,n)=>t+x(n,"restartCount"),0)}function Vt(e){let t=g(e,"spec","readinessGates");if(t.length===0)return w;let n=new Set(g(e,"status","conditions").filter(({status:s})=>s==="True").map(({type:s})=>s));return\`\${t.filter(({conditionType:s})=>n.has(s)).length}/\${t.length}\`}function Ft(e){let t=g(e,"status","conditions").find(({type:s})=>s==="Ready"),n=t===void 0?"Unknown":t.status==="True"?"Ready":"NotReady";return f(e,"spec","unschedulable")===!0?\`\${n},SchedulingDisabled\`:n}function _t(e){let t="node-role.kubernetes.io/",n=Object.keys(U(f(e,"metadata","labels"))).filter(s=>s.startsWith(t));return n.length===0?w:n.map(s=>s.slice(t.length)).sort().join(",")}function Je(e,t){let n=g(e,"status","addresses").find(s=>s.type===t);return typeof n?.address=="string"?n.address:w}function Ut(e){let t=f(e,"spec","externalIPs"),s=[...g(e,"status","loadBalancer","ingress").map(({ip:i,hostname:r})=>i??r),...Array.isArray(t)?t:[]];return s.length>0?s.join(","):l(e,"spec","type")==="LoadBalancer"?"<pending>":w}function qt(e){let t=g(e,"spec","ports").map(({port:n,nodePort:s,protocol:i="TCP"})=>\`\${n}\${s?\`:\${s}\`:""}/\${i}\`);return t.length===0?w:t.join(",")}var ys=new TextEncoder,bs=new TextDecoder;var X=class{#e;#t;#n=[];#s;#o=[];#r=0;#a=0;#i={key:void 0,index:0};#c=!1;constructor(t,n){this.#e=t,this.#t=n;let{scroller:s,rows:i}=t;s.addEventListener("scroll",()=>this.#f()),addEventListener("resize",()=>this.#f()),s.addEventListener("keydown",r=>this.#g(r)),i.addEventListener("click",r=>{let o=[...i.rows].findIndex(a=>a.contains(r.target));o>=0&&this.#d(this.#r+o)})}get#u(){return Math.max(1,Math.floor(this.#e.scroller.clientHeight/28)-1)}reset(t){this.#n=t,this.#s=void 0,this.#i={key:void 0,index:0},this.#e.table.setAttribute("aria-colcount",String(t.length)),this.#e.heads.replaceChildren(...t.map(n=>this.#m(n))),this.toTop(),this.show([],0,0)}toTop(){this.#i={key:void 0,index:0},this.#e.scroller.scrollTop=0,this.#f()}focus(){this.#l(this.#i.index)}show(t,n,s){this.#o=t,this.#r=n,this.#a=s;let{scroller:i,table:r,before:o,after:a,rows:u}=this.#e,d=document.activeElement===i||u.contains(document.activeElement);r.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${n*28}px\`,a.style.height=\`\${Math.max(0,s-n-t.length)*28}px\`;let m=t.findIndex(({key:R})=>R===this.#i.key);for(m>=0&&(this.#i={key:this.#i.key,index:n+m}),this.#i={...this.#i,index:Math.max(0,Math.min(this.#i.index,s-1))};u.rows.length>t.length;)u.deleteRow(-1);t.forEach((R,P)=>this.#h(u.rows[P]??u.insertRow(),R,n+P)),(this.#c||d)&&this.#p()}refresh(){this.show(this.#o,this.#r,this.#a)}#h(t,{object:n},s){let i=s===this.#i.index;for(we(t,"aria-rowindex",String(s+2)),we(t,"aria-selected",String(i)),we(t,"tabindex",i?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:r},o)=>{let a=t.cells[o]??t.insertCell(),u=n===null?"":r(n);a.textContent!==u&&(a.textContent=u,a.title=u)})}#m({title:t,sortKeys:n}){let s=document.createElement("th");s.scope="col";let i=document.createElement("button");return i.type="button",i.textContent=t,i.addEventListener("click",()=>{let[r,o]=n;this.#s=this.#s===r?o:this.#s===o?void 0:r;for(let a of this.#e.heads.cells)a.removeAttribute("aria-sort");this.#s!==void 0&&s.setAttribute("aria-sort",this.#s===r?"ascending":"descending"),this.#t.onSort(this.#s),this.toTop()}),s.append(i),s}#f(){let{scroller:t}=this.#e,n=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((n-30)/30)*30),i=Math.ceil((this.#u+4*30)/30)*30;this.#t.onWindow({offset:s,limit:i})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:n}=this.#i,s={ArrowDown:n+1,ArrowUp:n-1,PageDown:n+this.#u,PageUp:n-this.#u,Home:0,End:this.#a-1};if(t.key==="Enter")this.#d(n);else if(Object.hasOwn(s,t.key))this.#l(s[t.key]);else return;t.preventDefault()}#d(t){let n=this.#o[t-this.#r];n!==void 0&&(this.#l(t),this.#t.onOpen(n.key))}#l(t){let n=Math.max(0,Math.min(t,this.#a-1));this.#i={key:this.#o[n-this.#r]?.key,index:n};let{scroller:s}=this.#e,i=n*28,r=s.clientHeight-2*28;i<s.scrollTop?s.scrollTop=i:i>s.scrollTop+r&&(s.scrollTop=i-r),this.#c=!0,this.refresh()}#p(){let t=this.#e.rows.rows[this.#i.index-this.#r];if(t===void 0)return this.#e.scroller.focus({preventScroll:!0});this.#c=!1,this.#i={...this.#i,key:this.#o[this.#i.index-this.#r].key},t.focus({preventScroll:!0})}};function we(e,t,n){e.getAttribute(t)!==n&&e.setAttribute(t,n)}var Z=class{#e=[];#t;sample(t){let n=this.#t;this.#t=t,this.#e.push(t===void 0||n===void 0?0:Math.max(0,t-n)),this.#e.length>60&&this.#e.shift()}get perSecond(){return this.#e.at(-1)??0}path(t,n){let s=Math.max(1,...this.#e),i=60-this.#e.length;return this.#e.map((r,o)=>{let a=(i+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(n-1-r/s*(n-2)).toFixed(1)}\`}).join("")}};function Ke(e){return xe(e,"").join(\`
\`).trimStart()}function xe(e,t){if(Array.isArray(e))return e.length===0?[" []"]:["",...e.flatMap(n=>Bt(n,t))];if(typeof e=="object"&&e!==null){let n=Object.keys(e).sort();return n.length===0?[" {}"]:["",...n.flatMap(s=>Gt(s,e[s],t))]}return typeof e=="string"?zt(e,t):[\` \${JSON.stringify(e)??"null"}\`]}function Gt(e,t,n){let[s,...i]=xe(t,Array.isArray(t)?n:\`\${n}  \`);return[\`\${n}\${We.test(e)&&!Xe.test(e)?e:Ze(e)}:\${s}\`,...i]}function Bt(e,t){let n=\`\${t}  \`,[s,...i]=xe(e,n);return s!==""?[\`\${t}-\${s}\`,...i]:[\`\${t}- \${i[0].slice(n.length)}\`,...i.slice(1)]}var We=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,Xe=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Jt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function zt(e,t){if(We.test(e)&&!Xe.test(e))return[\` \${e}\`];if(!Jt.test(e))return[\` \${Ze(e)}\`];let n=e.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[e.endsWith(\`
\`)?" |":" |-",...n.map(i=>i===""?"":s+i)]}function Ze(e){return JSON.stringify(e).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var Ye={title:"Name",textOf:({metadata:e})=>e.name,sortKeys:["metadata.name","-metadata.name"]},Ht={title:"Namespace",textOf:({metadata:e})=>e.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},Qe={title:"Age",textOf:({metadata:{creationTimestamp:e}})=>e?be(Math.max(0,Date.now()-Date.parse(e))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(e){return document.getElementById(e)}var Y=h("collection"),F=h("filter"),st=h("details"),ve=h("state"),Pe=new Map,Ee=new Z,it=!1,O,v,et,_,Ae=_e(new URL(".",location.href),{onCollection:e=>{Pe.set(e.name,e),Q()},onConnected:e=>{it=e,Q()}}),Oe=h("scroller"),E=new X({scroller:Oe,table:Oe.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:({offset:e,limit:t})=>{v===void 0||v.request.offset===e&&v.request.limit===t||v.replace({offset:e,limit:t})},onSort:e=>v?.replace({sortBy:e===void 0?[]:[e]}),onOpen:Wt});async function Re(e,t){for await(let n of e.changes())t()}function Q(){let e=O&&Pe.get(O.name),t=it?e?.state??"connecting":"disconnected";ve.textContent!==t&&(ve.textContent=t),ve.className=t==="live"?"live":"";let{total:n=0,hasSynced:s=!1}=v??{},i=e?.objects!==void 0&&e.objects!==n?\` of \${e.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${n.toLocaleString("en")}\${i} objects\`:"",h("empty").hidden=!s||n>0}function rt(e){O=e,Ce(),v?.[Symbol.dispose](),et?.[Symbol.dispose]();let{name:t,isTable:n,kind:s}=e;document.title=\`\${s}: informer\`,Oe.querySelector("table").setAttribute("aria-label",t);let i=n?["metadata.name","cells"]:["metadata.name"],r=v=Ae.view({of:t,search:F.value,fields:i,offset:0,limit:150}),o=et=n?Ae.view({of:t,fields:["columns"],limit:1}):void 0;E.reset(o===void 0?tt(e,void 0):[]);let a="";o!==void 0&&Re(o,()=>{let u=o.rows()[0]?.object?.columns,d=JSON.stringify(u?.map(m=>m.name));u===void 0||d===a||(a=d,E.reset(tt(e,u)),r.hasSynced&&E.show(r.rows(),r.offset,r.total))}),Re(r,()=>{E.show(r.rows(),r.offset,r.total),Q()}),Q()}function tt({scope:e},t){let n=t?.flatMap(({name:s,priority:i,format:r},o)=>i>0?[]:s==="Age"?[Qe]:r==="name"?[Ye]:[{title:s,textOf:({cells:a})=>Kt(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...e==="Namespaced"?[Ht]:[],...n??[Ye,Qe]]}function Kt(e){return e==null?"":typeof e=="object"?JSON.stringify(e):String(e)}function Wt(e){_?.view[Symbol.dispose]();let[t,n]=e.split("/").reverse(),s=Ae.view({of:O.name,...n===void 0?{}:{namespace:n},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...O.isTable?{fields:["object"]}:{},limit:1});_={key:e,view:s},h("title").textContent=e,h("yaml").textContent="",st.hidden=!1,Re(s,()=>{let i=s.rows()[0]?.object,r=i?Ke(O.isTable?i.object:i):\`\${e} is gone\`;h("yaml").textContent!==r&&(h("yaml").textContent=r)}),h("yaml").focus()}function Ce(){_!==void 0&&(_.view[Symbol.dispose](),_=void 0,st.hidden=!0)}h("close").addEventListener("click",()=>{Ce(),E.focus()});addEventListener("keydown",e=>{let t=e.target instanceof HTMLInputElement||e.target instanceof HTMLSelectElement;e.key==="/"&&!t?(e.preventDefault(),F.focus(),F.select()):e.key==="Escape"&&_!==void 0?(Ce(),E.focus()):(e.key==="Escape"||e.key==="Enter")&&e.target===F&&E.focus()});var nt;F.addEventListener("input",()=>{clearTimeout(nt),nt=setTimeout(()=>{v?.replace({search:F.value}),E.toTop()},150)});setInterval(()=>{Ee.sample(O&&Pe.get(O.name)?.events),h("plot").querySelector("path").setAttribute("d",Ee.path(120,24)),h("per_second").textContent=\`\${Ee.perSecond} events/s\`,E.refresh()},1e3);var{collections:ke}=await(await fetch(new URL("api",location.href))).json();Y.replaceChildren(...ke.map(({name:e})=>new Option(e,e)));Y.addEventListener("change",()=>rt(ke[Y.selectedIndex]));rt(ke[Y.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-U0F4dK9xkzEt+5ClRBR9RjosdnKhIZ1jhrUhbf3rAH8='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
