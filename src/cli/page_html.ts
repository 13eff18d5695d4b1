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
<script type="module">var N=class{#e=new AbortController;#t;#n=()=>this.abort(this.#s?.reason);constructor(...t){if(this.#t=t,this.#s!==void 0)this.#n();else for(let n of t)n?.addEventListener("abort",this.#n,{once:!0})}follow(t){this.signal.aborted||(this.#t.push(t),t.aborted?this.#n():t.addEventListener("abort",this.#n,{once:!0}))}get#s(){return this.#t.find(t=>t?.aborted)}get signal(){return this.#e.signal}abort(t){this.release(),this.#e.abort(t)}release(){for(let t of this.#t)t?.removeEventListener("abort",this.#n)}[Symbol.dispose](){this.abort(new DOMException("The job is over","AbortError"))}};var z=class{#e;#t;#n="new";#s;#o;#i=Promise.resolve();constructor(t,n){this.#e=t===void 0?[]:[t],this.#t=n}begin(){}finish(){}wait(){return new Promise(t=>this.#o=t)}endWith(t){this.#e.push(t)}wake(){this.#o?.()}end(t){if(this.#n!=="over"){this.#n="over",this.#s=t;for(let n of this.#e)n.removeEventListener("abort",this.#a);this.#t?.delete(this),this.finish(),this.wake()}}next(){let t=this.#i.then(this.#r);return this.#i=t.then(void 0,()=>{}),t}return(){return this.end(),Promise.resolve({done:!0,value:void 0})}[Symbol.asyncIterator](){return this}#a=()=>this.end();#r=async()=>{for(this.#n==="new"&&this.#u();this.#c;){let n=this.poll();if(n!==void 0)return{done:!1,value:n};this.#c&&await this.wait()}let t=this.#s;if(this.#s=void 0,t!==void 0)throw t.error;return{done:!0,value:void 0}};get#c(){return this.#n==="open"}#u(){if(this.#e.some(({aborted:t})=>t))return this.end();this.#n="open";for(let t of this.#e)t.addEventListener("abort",this.#a,{once:!0});this.#t?.add(this);try{this.#c&&this.begin()}catch(t){this.end({error:t})}}},U=class{#e=new Set;#t;get haveEnded(){return this.#t!==void 0}add(t){this.#t===void 0?this.#e.add(t):t.end(this.#t.failure)}delete(t){this.#e.delete(t)}end(t){this.#t??={failure:t};for(let n of this.#e)n.end(this.#t.failure)}[Symbol.iterator](){return this.#e.values()}};function te(e,t={}){let{signal:n,persistent:s=!0}=t;if(n?.aborted)return Promise.reject(n.reason);let r,i,o=new Promise((...M)=>[r,i]=M),a,u=Date.now(),d=e>0?Math.trunc(e):0;function m(M){let F=M>2147483647;a=setTimeout(F?()=>m(d-(Date.now()-u)):A,F?2147483647:M),s||Deno.unrefTimer(Number(a))}function A(){n?.removeEventListener("abort",k),r()}function k(){clearTimeout(a),i(n?.reason)}return m(d),n?.addEventListener("abort",k,{once:!0}),o}function Re(e,t){let{initialMs:n=800,maxMs:s=3e4,factor:r=2,jitter:i=1}=t;return Math.min(n*Math.min(r**e,Number.MAX_VALUE),s/(1+i))*(1+Math.random()*i)}function T(){return performance.now()}var G=2**31-1,J=class{#e;#t;constructor(t){this.#e=()=>{this.#t=void 0,t()}}get isArmed(){return this.#t!==void 0}arm(t){if(this[Symbol.dispose](),t<=G)this.#t=setTimeout(this.#e,Math.max(0,Math.ceil(t)));else if(t!==1/0){let n=T()+t;this.#t=setTimeout(()=>this.arm(n-T()),G)}}[Symbol.dispose](){this.#t!==void 0&&(clearTimeout(this.#t),this.#t=void 0)}};async function Ie(e,t={}){let n=T()+e,s=e;for(;s>G;s=n-T())await te(G,t);await te(s,t)}var nn=2n**63n-1n;function Ce(e,t){if(t.rows!==void 0)return[...t.rows];for(let n of t.changes){if(n.type==="changed"){e[n.to]=n.row;continue}n.type!=="entered"&&e.splice(n.from,1),n.type!=="left"&&e.splice(n.to,0,n.row)}return e}function $(e){try{return e instanceof Error?e.message:String(e)}catch{return"a value that has no text"}}var ct=8;function R(e){let t=[];for(let n=e;n!==void 0&&t.length<ct&&!t.includes(n)&&(t.push(n),n instanceof Error);)n=n.cause??(n instanceof AggregateError?n.errors[0]:void 0);return t}function ut(e){let t="";for(let n of R(e)){let s=ft($(n))||(n instanceof Error?n.name:""),r=n instanceof Error&&n.name==="NotCapable"&&t.includes("--allow-");s===""||r||t.includes(s)||(t=t===""?s:\`\${t.replace(/[.:;]$/,"")}: \${s}\`)}return t}function ft(e){return e.trim().split(/\\s+/).join(" ")}var je="[redacted]",De="secret|token|passw(?:or)?d|passphrase|credential|key",dt=[/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z0-9 ]*-----|$)/g,/\\beyJ[\\w-]{8,}(?:\\.[\\w-]*){0,4}/g,/\\bk8s-aws-v\\d\\.[\\w-]+/g,/(?<=:\\/\\/[^\\s/:@]*:)[^\\s/@]+(?=@)/g,/(?<=\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{6,}/gi,Pe(\`(?:\${De})["']? ?[:=] ?\`),Pe(\`(?<![\\\\w-])--?[\\\\w-]{0,40}(?:\${De})[\\\\w-]{0,40}["']? \`,"(?!(?:flags?|options?|arguments?|must|needs?|requires?|with|from|file|missing|cannot|should)\\\\b)")];function Pe(e,t=""){return new RegExp(\`(?<=\${e}")[^"]+|(?<=\${e}')[^']+|(?<=\${e})\${t}[^\\\\s"',;]{4,}\`,"gi")}var lt=/[\\w+=-]{32,}/g;function ht(e){return/\\d/.test(e)?/[a-z]/.test(e)&&/[A-Z]/.test(e)||/[a-z\\d]{32}/i.test(e):!1}function pt(e){let t=e.replaceAll(/\\x1b\\[[0-9;]*[A-Za-z]/g,"").replaceAll(/[\\x00-\\x1f\\x7f-\\x9f\\s]+/g," ").trim();for(let n of dt)t=t.replaceAll(n,je);return t.replaceAll(lt,n=>ht(n)?je:n)}var Le=6e4,mt=20,_e=600,gt=1e3,B=class{#e=new Map;#t={beganMs:-1/0,lines:0};#n=0;report(t,n,s=""){let r=T(),i=yt(n,s),o=this.#e.get(i);if(o!==void 0&&r-o.writtenMs<Le){o.repeats++;return}if(r-this.#t.beganMs>=Le&&(this.#t={beganMs:r,lines:0}),this.#t.lines>=mt){this.#n++;return}this.#t.lines++,this.#e.size>=gt&&this.#e.clear(),this.#e.set(i,{writtenMs:r,repeats:0});let a=[...o?.repeats?[\`\${o.repeats} more times since the last line\`]:[],...this.#n>0?[\`\${this.#n} errors of other causes were left out\`]:[]];this.#n=0;let u=pt(\`\${t}: \${ut(n)}\`),d=u.length>_e?\`\${u.slice(0,_e)}\\u2026\`:u;console.warn(a.length===0?d:\`\${d} (\${a.join("; ")})\`)}};function yt(e,t){let n=R(e).at(-1),s=$(n),r=/^Cannot [^]*?": ([^]+)$/.exec(s)?.[1]??s,o=[t,t.slice(t.lastIndexOf("/")+1)].filter(a=>a!=="").reduce((a,u)=>a.replaceAll(u,""),r.replaceAll(/\\bversion "?\\d+/g,""));return\`\${n instanceof Error?n.name:typeof n}: \${o}\`}var I=class extends Error{name="RelayError";status;constructor(t,n){super(t),this.status=n}};function Ve({onError:e},t){let n=new B;return e??(s=>n.report(\`subscription to "\${t}"\`,s))}function re(e,t){let n=new URL(e,globalThis.location?.href);return new URL(t,n.href.replace(/\\/?(\\?.*)?$/,"/")).href}async function ie(e,t,n){let{headers:s,fetch:r=globalThis.fetch.bind(globalThis)}=t,i=await r(e,{...n,headers:{...await s?.(),...n.headers}});if(i.ok)return i;let o=await i.text(),a=o.slice(0,200);try{a=JSON.parse(o).error}catch{}throw new I(\`Cannot subscribe to \${e}: \${i.status} \${a}\`,i.status)}var se=class{#e="";push(t){let n=(this.#e+t).replaceAll(\`\\r
\`,\`
\`).split(\`

\`);return this.#e=n.pop(),n.map(bt)}};function bt(e){let t="message",n=[],s;for(let r of e.split(\`
\`)){let i=r.indexOf(":");if(i<1)continue;let o=r.slice(i+(r[i+1]===" "?2:1)),a=r.slice(0,i);a==="event"?t=o:a==="data"?n.push(o):a==="id"&&(s=o)}return{event:t,data:n.join(\`
\`),id:s}}var ne=7e4,wt=[408,425,429];async function ze({request:e,onEvent:t,onDown:n},s){let{signal:r,onError:i}=s;for(let o=0;;o++){r.throwIfAborted();let{address:a,headers:u}=e();try{await xt(a,u,s,d=>{o=0,t(d)})}catch(d){if(r.throwIfAborted(),d instanceof I&&d.status<500&&!wt.includes(d.status))throw d;i(d)}n(),await Ie(Re(o,{initialMs:500,maxMs:15e3})*(.5+Math.random()/2),{signal:r})}}async function xt(e,t,n,s){let{signal:r}=n,i=new AbortController,o,a=m=>{o?.cancel(m).catch(()=>{}),i.abort(m)},u=()=>a(r.reason),d=new J(()=>a(new Error(\`Nothing came from \${e} for \${ne/1e3} s\`)));r.addEventListener("abort",u,{once:!0});try{d.arm(ne);let{body:m}=await ie(e,n,{headers:{accept:"text/event-stream",...t},cache:"no-store",signal:i.signal});o=m.getReader(),i.signal.throwIfAborted();let A=new TextDecoder,k=new se;for(;;){let{done:M,value:F}=await o.read();if(M)return i.signal.throwIfAborted();d.arm(ne);for(let at of k.push(A.decode(F,{stream:!0})))s(at)}}finally{d[Symbol.dispose](),r.removeEventListener("abort",u),a()}}var oe=class{#e;#t=new U;#n;#s=[];#o;constructor(t,n){this.#n=t,this.#e=n}get request(){return this.#n}get hasSynced(){return this.#o!==void 0}get total(){return this.#o?.total??0}get offset(){return this.#o?.offset??0}rows(){return this.#s}replace(t){this.#n={...this.#n,...t},this.#e(!1)}changes(t={}){return new ae(t.signal,this.#t,()=>this.#o&&this.#i(this.#o))}accept({total:t,offset:n,rows:s,changes:r}){let i=s===void 0?{total:t,offset:n,changes:r}:{total:t,offset:n,rows:s,changes:r};this.#o=i,this.#s=Ce(this.#s,i);for(let o of this.#t)o.update=o.update===void 0?i:this.#i(i),o.wake()}end(t){this.#t.haveEnded||(this.#t.end(t),this.#e(!0))}[Symbol.dispose](){this.end()}#i({total:t,offset:n}){return{total:t,offset:n,rows:[...this.#s],changes:[]}}},ae=class extends z{update;#e;constructor(t,n,s){super(t,n),this.#e=s}begin(){this.update=this.#e()}poll(){let{update:t}=this;return this.update=void 0,t}},Et=2e3,ce=class{#e;#t;#n;#s=new Map;#o=0;#i;#a=!1;#r=!1;#c=new N;#u;constructor(t,n={}){let{signal:s}=n;this.#e=t,this.#t={...n,onError:Ve(n,t)},this.#n=new N(s),Promise.resolve().then(()=>this.#m()).catch(r=>{this.#n.release(),this.#y(s?.aborted?void 0:{error:r})})}get isConnected(){return this.#i!==void 0}view(t){if(this.#u!==void 0)throw new Error("Cannot open a view: the subscription has ended");let n=String(++this.#o),s=new oe(t,r=>{(!r||this.#s.delete(n))&&this.#d()});return this.#s.set(n,s),this.#d(),s}[Symbol.dispose](){this.#y(void 0),this.#n.abort(new DOMException("The subscription was disposed","AbortError"))}#h(){return JSON.stringify(Object.fromEntries([...this.#s].map(([t,{request:n}])=>[t,n])))}#m(){let{signal:t}=this.#n;return ze({request:()=>{let n=\`?views=\${encodeURIComponent(this.#h())}\`;return this.#a=n.length>Et,{address:re(this.#e,\`views\${this.#a?"":n}\`)}},onEvent:n=>this.#g(n),onDown:()=>this.#f(void 0)},{...this.#t,signal:t,fetch:(n,s)=>this.#l(n,s)})}#l(t,n){let{fetch:s=globalThis.fetch.bind(globalThis)}=this.#t;return this.#c=new N(n.signal??void 0),s(t,{...n,signal:this.#c.signal})}#g({event:t,data:n}){if(this.#u===void 0){if(t==="stream")this.#f(JSON.parse(n).id);else if(t==="collection")this.#t.onCollection?.(JSON.parse(n));else if(t==="view"){let s=JSON.parse(n);this.#s.get(s.view)?.accept(s)}}}#f(t){this.#i=t,this.#t.onConnected?.(t!==void 0),this.#a&&this.#p()}#d(){this.#a||(this.#a=!0,queueMicrotask(()=>void this.#p()))}async#p(){for(;this.#a&&!this.#r&&this.#i!==void 0&&this.#u===void 0;){this.#a=!1,this.#r=!0;let t=re(this.#e,\`views/\${this.#i}\`),n=this.#c;try{let s={"content-type":"application/json"},r={method:"POST",body:this.#h(),headers:s,signal:n.signal};await ie(t,this.#t,r)}catch(s){if(s instanceof I&&s.status===400)this.#t.onError(s);else{let r={cause:s};n.abort(new Error("Cannot change the views of the stream; another one follows",r))}}finally{this.#r=!1}}}#y(t){if(this.#u===void 0){this.#u={failure:t},this.#i!==void 0&&this.#f(void 0);for(let n of[...this.#s.values()])n.end(t)}}};function qe(e,t={}){return new ce(e,t)}function C(e){return typeof e=="object"&&e!==null&&!Array.isArray(e)}function q(e){return C(e)?e:{}}function H(e){return typeof e=="string"||typeof e=="number"||typeof e=="boolean"?String(e):""}function l(e,...t){let n=e;for(let s of t){if(typeof n!="object"||n===null||!Object.hasOwn(n,s))return;n=n[s]}return n}function y(e,t,...n){return n.map(s=>({group:e,version:t,scope:"Namespaced",subresources:[],...s}))}var b=["status"],ue=["scale","status"],Tn=[...y("","v1",{plural:"componentstatuses",kind:"ComponentStatus",scope:"Cluster",shortNames:["cs"],verbs:["get","list"],warning:"v1 ComponentStatus is deprecated in v1.19+"},{plural:"configmaps",kind:"ConfigMap",shortNames:["cm"]},{plural:"endpoints",kind:"Endpoints",shortNames:["ep"],singular:"endpoints"},{plural:"events",kind:"Event",shortNames:["ev"],fields:["involvedObject.kind","involvedObject.namespace","involvedObject.name","involvedObject.uid","involvedObject.apiVersion","involvedObject.resourceVersion","involvedObject.fieldPath","reason","reportingComponent","type"]},{plural:"limitranges",kind:"LimitRange",shortNames:["limits"]},{plural:"namespaces",kind:"Namespace",scope:"Cluster",shortNames:["ns"],subresources:["finalize","status"],fields:["status.phase"],returnsDeleted:!0,verbs:["create","delete","get","list","patch","update","watch"]},{plural:"nodes",kind:"Node",scope:"Cluster",shortNames:["no"],subresources:b,fields:["spec.unschedulable"]},{plural:"persistentvolumeclaims",kind:"PersistentVolumeClaim",shortNames:["pvc"],subresources:b},{plural:"persistentvolumes",kind:"PersistentVolume",scope:"Cluster",shortNames:["pv"],subresources:b},{plural:"pods",kind:"Pod",shortNames:["po"],categories:["all"],subresources:b,generation:!0,returnsDeleted:!0,fields:["spec.nodeName","spec.restartPolicy","spec.schedulerName","spec.serviceAccountName","spec.hostNetwork","status.phase","status.podIP","status.nominatedNodeName"]},{plural:"secrets",kind:"Secret",fields:["type"]},{plural:"serviceaccounts",kind:"ServiceAccount",shortNames:["sa"],returnsDeleted:!0},{plural:"services",kind:"Service",shortNames:["svc"],categories:["all"],subresources:b,returnsDeleted:!0,fields:["spec.clusterIP","spec.type"]}),...y("apiextensions.k8s.io","v1",{plural:"customresourcedefinitions",kind:"CustomResourceDefinition",scope:"Cluster",shortNames:["crd","crds"],categories:["api-extensions"],subresources:b,generation:!0}),...y("apps","v1",{plural:"controllerrevisions",kind:"ControllerRevision"},{plural:"daemonsets",kind:"DaemonSet",shortNames:["ds"],categories:["all"],subresources:b,generation:!0},{plural:"deployments",kind:"Deployment",shortNames:["deploy"],categories:["all"],subresources:ue,generation:!0},{plural:"replicasets",kind:"ReplicaSet",shortNames:["rs"],categories:["all"],subresources:ue,generation:!0,fields:["status.replicas"]},{plural:"statefulsets",kind:"StatefulSet",shortNames:["sts"],categories:["all"],subresources:ue,generation:!0}),...y("batch","v1",{plural:"cronjobs",kind:"CronJob",shortNames:["cj"],categories:["all"],subresources:b,generation:!0},{plural:"jobs",kind:"Job",categories:["all"],subresources:b,generation:!0,fields:["status.successful"]}),...y("coordination.k8s.io","v1",{plural:"leases",kind:"Lease",unconditionalUpdate:!1}),...y("discovery.k8s.io","v1",{plural:"endpointslices",kind:"EndpointSlice",generation:!0}),...y("events.k8s.io","v1",{plural:"events",kind:"Event",shortNames:["ev"],fields:["regarding.kind","regarding.namespace","regarding.name","regarding.uid","regarding.apiVersion","regarding.resourceVersion","regarding.fieldPath","reason","reportingController","type"]}),...y("networking.k8s.io","v1",{plural:"ingresses",kind:"Ingress",shortNames:["ing"],subresources:b,generation:!0},{plural:"networkpolicies",kind:"NetworkPolicy",shortNames:["netpol"],generation:!0}),...y("policy","v1",{plural:"poddisruptionbudgets",kind:"PodDisruptionBudget",shortNames:["pdb"],subresources:b,generation:!0}),...y("rbac.authorization.k8s.io","v1",{plural:"clusterrolebindings",kind:"ClusterRoleBinding",scope:"Cluster"},{plural:"clusterroles",kind:"ClusterRole",scope:"Cluster"},{plural:"rolebindings",kind:"RoleBinding"},{plural:"roles",kind:"Role"}),...y("storage.k8s.io","v1",{plural:"storageclasses",kind:"StorageClass",scope:"Cluster",shortNames:["sc"]})];var fe="/v1/events",vt="events.k8s.io/v1/events",de=[["eventTime","eventTime"],["series","series"],["reportingController","reportingComponent"],["reportingInstance","reportingInstance"],["action","action"],["reason","reason"],["regarding","involvedObject"],["related","related"],["note","message"],["type","type"],["deprecatedSource","source"],["deprecatedFirstTimestamp","firstTimestamp"],["deprecatedLastTimestamp","lastTimestamp"],["deprecatedCount","count"]],St=[6,5,8,10,11,12,13,9,0,1,4,7,2,3],$t=St.map(e=>[de[e][1],de[e][0]]),Ot={[fe]:{involvedObject:{},source:{},firstTimestamp:null,lastTimestamp:null,eventTime:null,reportingComponent:"",reportingInstance:""},[vt]:{eventTime:null,regarding:{},deprecatedSource:{},deprecatedFirstTimestamp:null,deprecatedLastTimestamp:null}};function le(e,t){let[n,s]=[t===fe?"v1":"events.k8s.io/v1",Ot[t]],r={kind:"Event",apiVersion:n,metadata:e.metadata};for(let[i,o]of t===fe?$t:de){let a=e[o];a==null||a===""||a===0||C(a)&&Object.keys(a).length===0?s[i]!==void 0&&(r[i]=s[i]):r[i]=a}return r}var At=Symbol.for("nodejs.util.inspect.custom"),j=10,kt=new URL("../",import.meta.url).href,Fe=3,he=class extends Error{name="InformerError";constructor(t,n={}){super(t,Mt(t,n.cause))}toJSON(){return Nt(this)}[At](){return Tt(this)}};function Nt(e){return R(e).reduceRight((n,s)=>({name:pe(s),message:$(s),...n===void 0?{}:{cause:n}}),void 0)??{name:pe(e),message:$(e)}}function Mt(e,t){let n=R(t).find(s=>!(e??"").includes($(s)));return n===void 0?void 0:{cause:n}}function Tt(e){let n=R(e).slice(0,j-Fe),s=n.length-1,r=s===0?j-1:Math.min(Fe,j-n.length),i=[];for(let[o,a]of n.entries()){let u=\`\${pe(a)}: \${$(a)}\`;i.push(o===0?u:\`Caused by: \${u}\`),o===0?i.push(...Ue(a,r)):o===s&&i.push(...Ue(a,Math.max(0,j-i.length))),o===0&&(i.length=Math.min(i.length,j-s))}return i.flatMap(o=>o.split(\`
\`)).slice(0,j).join(\`
\`)}function Ue(e,t){let s=(e instanceof Error?e.stack??"":"").split(\`
\`).filter(i=>/^\\s+at /.test(i)&&!/\\b(?:ext|node):/.test(i)),r=s.filter(i=>!i.includes(kt)&&/:\\d+:\\d+\\)?$/.test(i));return(r.length>0?r:s).slice(0,t)}function pe(e){return e instanceof Error?e.name:typeof e}var Dn=5*6e4;var Kn=new TextEncoder,Xn=new TextDecoder;var Yn=Object.freeze({});var D=60,P=60*D,L=24*P,W=365*L;function we(e){let t=Math.floor(e/1e3);return t<-1?"<invalid>":t<0?"0s":t<2*D?\`\${t}s\`:t<10*D?K(t,D,"m",1,"s"):t<3*P?\`\${Math.floor(t/D)}m\`:t<8*P?K(t,P,"h",D,"m"):t<2*L?\`\${Math.floor(t/P)}h\`:t<8*L?K(t,L,"d",P,"h"):t<2*W?\`\${Math.floor(t/L)}d\`:t<8*W?K(t,W,"y",L,"d"):\`\${Math.floor(t/W)}y\`}function K(e,t,n,s,r){let i=Math.floor(e%t/s);return\`\${Math.floor(e/t)}\${n}\${i===0?"":\`\${i}\${r}\`}\`}var X="<unknown>",x="<none>";function xe(e,t){let n=typeof e=="string"?Date.parse(e):NaN;return Number.isNaN(n)?X:we(t-n)}function c(e,t,n,s={}){return{name:e,type:"string",format:"",priority:0,description:t,...s,cell:n}}var p={priority:1},me={type:"integer"},It=c("Name","Name of the object.",e=>f(e,"metadata","name"),{format:"name"}),w=c("Age","Time since creation.",(e,t)=>xe(l(e,"metadata","creationTimestamp"),t)),os=c("Created At","Time of creation.",e=>f(e,"metadata","creationTimestamp"),{type:"date"});function f(e,...t){let n=l(e,...t);return typeof n=="string"?n:""}function E(e,...t){let n=l(e,...t);return typeof n=="number"?n:0}function g(e,...t){let n=l(e,...t);return Array.isArray(n)?n.filter(C):[]}function Ge(e,...t){return t.reduce((n,s)=>n+Object.keys(q(e[s])).length,0)}var ge=c("Containers","Names of the containers.",e=>g(e,"spec","template","spec","containers").map(({name:t})=>H(t)).join(","),p),ye=c("Images","Images of the containers.",e=>g(e,"spec","template","spec","containers").map(({image:t})=>H(t)).join(","),p),Je=c("Selector","Selector of the pods.",e=>He(l(e,"spec","selector","matchLabels")),p);function He(e){let t=Object.entries(q(e)).map(([n,s])=>\`\${n}=\${s}\`);return t.length===0?x:t.sort().join(",")}function be(e){let t=l(e,"spec","replicas");return typeof t=="number"?t:1}var Ct=[c("Last Seen","Time since the last occurrence.",jt),c("Type","Type of the event.",e=>f(e,"type")),c("Reason","Reason of the event.",e=>f(e,"reason")),c("Object","The object that the event is about.",e=>{let t=f(e,"involvedObject","kind").toLowerCase(),n=f(e,"involvedObject","name");return n===""?t:\`\${t}/\${n}\`}),c("Subobject","The part of that object.",e=>f(e,"involvedObject","fieldPath"),p),c("Source","The component that reported the event.",e=>{let t=f(e,"source","component")||f(e,"reportingComponent"),n=f(e,"source","host")||f(e,"reportingInstance");return n===""?t:\`\${t}, \${n}\`},p),c("Message","A description for people.",e=>f(e,"message").trim()),c("First Seen","Time since the first occurrence.",We,p),c("Count","Number of occurrences.",e=>l(e,"series")===void 0?E(e,"count")||1:E(e,"series","count"),p),{...It,priority:1}],as=Ct.map(e=>({...e,cell:(t,n)=>e.cell(le(t,"/v1/events"),n)}));function We(e,t){return xe(l(e,"firstTimestamp")??l(e,"eventTime"),t)}function jt(e,t){let n=l(e,"series")===void 0?l(e,"lastTimestamp"):l(e,"series","lastObservedTime");return n==null?We(e,t):xe(n,t)}var cs={"/configmaps":[c("Data","Number of entries.",e=>Ge(e,"data","binaryData")),w],"/secrets":[c("Type","Type of the secret.",e=>f(e,"type")),c("Data","Number of entries.",e=>Ge(e,"data")),w],"/namespaces":[c("Status","Phase of the namespace.",e=>f(e,"status","phase")),w],"/nodes":[c("Status","Condition of the node.",Vt),c("Roles","Roles of the node.",zt),w,c("Version","Version of the kubelet.",e=>f(e,"status","nodeInfo","kubeletVersion")),c("Internal-IP","Internal IP address.",e=>Be(e,"InternalIP"),p),c("External-IP","External IP address.",e=>Be(e,"ExternalIP"),p),c("OS-Image","Operating system.",e=>f(e,"status","nodeInfo","osImage")||X,p),c("Kernel-Version","Kernel version.",e=>f(e,"status","nodeInfo","kernelVersion")||X,p),c("Container-Runtime","Container runtime and its version.",e=>f(e,"status","nodeInfo","containerRuntimeVersion")||X,p)],"/pods":[c("Ready","Ready containers.",Dt),c("Status","Phase, or the reason of a container state.",Pt),c("Restarts","Number of container restarts.",e=>String(Lt(e))),w,c("IP","IP address of the pod.",e=>f(e,"status","podIP")||x,p),c("Node","Node of the pod.",e=>f(e,"spec","nodeName")||x,p),c("Nominated Node","Node nominated by preemption.",e=>f(e,"status","nominatedNodeName")||x,p),c("Readiness Gates","Readiness gates that are true.",_t,p)],"/services":[c("Type","Type of the service.",e=>f(e,"spec","type")||"ClusterIP"),c("Cluster-IP","Cluster IP address.",e=>f(e,"spec","clusterIP")||x),c("External-IP","External IP address.",qt),c("Port(s)","Ports of the service.",Ft),w,c("Selector","Selector of the pods.",e=>He(l(e,"spec","selector")),p)],"apps/deployments":[c("Ready","Ready pods.",e=>\`\${E(e,"status","readyReplicas")}/\${be(e)}\`),c("Up-to-date","Updated pods.",e=>E(e,"status","updatedReplicas")),c("Available","Available pods.",e=>E(e,"status","availableReplicas")),w,ge,ye,Je],"apps/replicasets":[c("Desired","Desired pods.",be,me),c("Current","Current pods.",e=>E(e,"status","replicas"),me),c("Ready","Ready pods.",e=>E(e,"status","readyReplicas"),me),w,ge,ye,Je],"apps/statefulsets":[c("Ready","Ready pods.",e=>\`\${E(e,"status","readyReplicas")}/\${be(e)}\`),w,ge,ye],"coordination.k8s.io/leases":[c("Holder","Holder of the lease.",e=>f(e,"spec","holderIdentity")),w]};function Dt(e){let t=g(e,"spec","containers").length;return\`\${g(e,"status","containerStatuses").filter(s=>s.ready===!0).length}/\${t}\`}function Pt(e){if(l(e,"metadata","deletionTimestamp")!==void 0)return"Terminating";for(let t of g(e,"status","containerStatuses")){let n=f(t,"state","waiting","reason")||f(t,"state","terminated","reason");if(n!=="")return n}return f(e,"status","reason")||f(e,"status","phase")||"Unknown"}function Lt(e){return g(e,"status","containerStatuses").reduce((t,n)=>t+E(n,"restartCount"),0)}function _t(e){let t=g(e,"spec","readinessGates");if(t.length===0)return x;let n=new Set(g(e,"status","conditions").filter(({status:s})=>s==="True").map(({type:s})=>s));return\`\${t.filter(({conditionType:s})=>n.has(s)).length}/\${t.length}\`}function Vt(e){let t=g(e,"status","conditions").find(({type:s})=>s==="Ready"),n=t===void 0?"Unknown":t.status==="True"?"Ready":"NotReady";return l(e,"spec","unschedulable")===!0?\`\${n},SchedulingDisabled\`:n}function zt(e){let t="node-role.kubernetes.io/",n=Object.keys(q(l(e,"metadata","labels"))).filter(s=>s.startsWith(t));return n.length===0?x:n.map(s=>s.slice(t.length)).sort().join(",")}function Be(e,t){let n=g(e,"status","addresses").find(s=>s.type===t);return typeof n?.address=="string"?n.address:x}function qt(e){let t=l(e,"spec","externalIPs"),s=[...g(e,"status","loadBalancer","ingress").map(({ip:r,hostname:i})=>r??i),...Array.isArray(t)?t:[]];return s.length>0?s.join(","):f(e,"spec","type")==="LoadBalancer"?"<pending>":x}function Ft(e){let t=g(e,"spec","ports").map(({port:n,nodePort:s,protocol:r="TCP"})=>\`\${n}\${s?\`:\${s}\`:""}/\${r}\`);return t.length===0?x:t.join(",")}var us=new TextEncoder,fs=new TextDecoder;var Y=class{#e;#t;#n=[];#s;#o=[];#i=0;#a=0;#r={key:void 0,index:0};#c=!1;constructor(t,n){this.#e=t,this.#t=n;let{scroller:s,rows:r}=t;s.addEventListener("scroll",()=>this.#l()),addEventListener("resize",()=>this.#l()),s.addEventListener("keydown",i=>this.#g(i)),r.addEventListener("click",i=>{let o=[...r.rows].findIndex(a=>a.contains(i.target));o>=0&&this.#f(this.#i+o)})}get#u(){return Math.max(1,Math.floor(this.#e.scroller.clientHeight/28)-1)}reset(t){this.#n=t,this.#s=void 0,this.#r={key:void 0,index:0},this.#e.table.setAttribute("aria-colcount",String(t.length)),this.#e.heads.replaceChildren(...t.map(n=>this.#m(n))),this.toTop(),this.show([],0,0)}toTop(){this.#r={key:void 0,index:0},this.#e.scroller.scrollTop=0,this.#l()}focus(){this.#d(this.#r.index)}show(t,n,s){this.#o=t,this.#i=n,this.#a=s;let{scroller:r,table:i,before:o,after:a,rows:u}=this.#e,d=document.activeElement===r||u.contains(document.activeElement);i.setAttribute("aria-rowcount",String(s+1)),o.style.height=\`\${n*28}px\`,a.style.height=\`\${Math.max(0,s-n-t.length)*28}px\`;let m=t.findIndex(({key:A})=>A===this.#r.key);for(m>=0&&(this.#r={key:this.#r.key,index:n+m}),this.#r={...this.#r,index:Math.max(0,Math.min(this.#r.index,s-1))};u.rows.length>t.length;)u.deleteRow(-1);t.forEach((A,k)=>this.#h(u.rows[k]??u.insertRow(),A,n+k)),(this.#c||d)&&this.#p()}refresh(){this.show(this.#o,this.#i,this.#a)}#h(t,{object:n},s){let r=s===this.#r.index;for(Ee(t,"aria-rowindex",String(s+2)),Ee(t,"aria-selected",String(r)),Ee(t,"tabindex",r?"0":"-1");t.cells.length>this.#n.length;)t.deleteCell(-1);this.#n.forEach(({textOf:i},o)=>{let a=t.cells[o]??t.insertCell(),u=n===null?"":i(n);a.textContent!==u&&(a.textContent=u,a.title=u)})}#m({title:t,sortKeys:n}){let s=document.createElement("th");s.scope="col";let r=document.createElement("button");return r.type="button",r.textContent=t,r.addEventListener("click",()=>{let[i,o]=n;this.#s=this.#s===i?o:this.#s===o?void 0:i;for(let a of this.#e.heads.cells)a.removeAttribute("aria-sort");this.#s!==void 0&&s.setAttribute("aria-sort",this.#s===i?"ascending":"descending"),this.#t.onSort(this.#s),this.toTop()}),s.append(r),s}#l(){let{scroller:t}=this.#e,n=Math.floor(t.scrollTop/28),s=Math.max(0,Math.floor((n-30)/30)*30),r=Math.ceil((this.#u+4*30)/30)*30;this.#t.onWindow({offset:s,limit:r})}#g(t){if(t.ctrlKey||t.altKey||t.metaKey||t.target instanceof HTMLButtonElement)return;let{index:n}=this.#r,s={ArrowDown:n+1,ArrowUp:n-1,PageDown:n+this.#u,PageUp:n-this.#u,Home:0,End:this.#a-1};if(t.key==="Enter")this.#f(n);else if(Object.hasOwn(s,t.key))this.#d(s[t.key]);else return;t.preventDefault()}#f(t){let n=this.#o[t-this.#i];n!==void 0&&(this.#d(t),this.#t.onOpen(n.key))}#d(t){let n=Math.max(0,Math.min(t,this.#a-1));this.#r={key:this.#o[n-this.#i]?.key,index:n};let{scroller:s}=this.#e,r=n*28,i=s.clientHeight-2*28;r<s.scrollTop?s.scrollTop=r:r>s.scrollTop+i&&(s.scrollTop=r-i),this.#c=!0,this.refresh()}#p(){let t=this.#e.rows.rows[this.#r.index-this.#i];if(t===void 0)return this.#e.scroller.focus({preventScroll:!0});this.#c=!1,this.#r={...this.#r,key:this.#o[this.#r.index-this.#i].key},t.focus({preventScroll:!0})}};function Ee(e,t,n){e.getAttribute(t)!==n&&e.setAttribute(t,n)}var Z=class{#e=[];#t;sample(t){let n=this.#t;this.#t=t,this.#e.push(t===void 0||n===void 0?0:Math.max(0,t-n)),this.#e.length>60&&this.#e.shift()}get perSecond(){return this.#e.at(-1)??0}path(t,n){let s=Math.max(1,...this.#e),r=60-this.#e.length;return this.#e.map((i,o)=>{let a=(r+o)/59*t;return\`\${o===0?"M":"L"}\${a.toFixed(1)} \${(n-1-i/s*(n-2)).toFixed(1)}\`}).join("")}};function Ke(e){return ve(e,"").join(\`
\`).trimStart()}function ve(e,t){if(Array.isArray(e))return e.length===0?[" []"]:["",...e.flatMap(n=>Gt(n,t))];if(typeof e=="object"&&e!==null){let n=Object.keys(e).sort();return n.length===0?[" {}"]:["",...n.flatMap(s=>Ut(s,e[s],t))]}return typeof e=="string"?Bt(e,t):[\` \${JSON.stringify(e)??"null"}\`]}function Ut(e,t,n){let[s,...r]=ve(t,Array.isArray(t)?n:\`\${n}  \`);return[\`\${n}\${Xe.test(e)&&!Ye.test(e)?e:Ze(e)}:\${s}\`,...r]}function Gt(e,t){let n=\`\${t}  \`,[s,...r]=ve(e,n);return s!==""?[\`\${t}-\${s}\`,...r]:[\`\${t}- \${r[0].slice(n.length)}\`,...r.slice(1)]}var Xe=/^[A-Za-z_/][\\w/.@+-]*(?::[\\w/.@+-]+)*(?: [\\w/.@+-]+(?::[\\w/.@+-]+)*)*$/,Ye=/^(?:null|true|false|yes|no|on|off|y|n)$/i,Jt=/^[^\\s](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?(?:\\n+ *[^\\s\\p{C}](?:[^\\n\\r\\t\\p{C}]*[^\\s\\p{C}])?)+\\n?$/u;function Bt(e,t){if(Xe.test(e)&&!Ye.test(e))return[\` \${e}\`];if(!Jt.test(e))return[\` \${Ze(e)}\`];let n=e.replace(/\\n$/,"").split(\`
\`),s=t===""?"  ":t;return[e.endsWith(\`
\`)?" |":" |-",...n.map(r=>r===""?"":s+r)]}function Ze(e){return JSON.stringify(e).replace(/[\\u007f-\\u009f\\u2028\\u2029\\ufeff\\ufffe\\uffff]/g,t=>\`\\\\u\${t.charCodeAt(0).toString(16).padStart(4,"0")}\`)}var Qe={title:"Name",textOf:({metadata:e})=>e.name,sortKeys:["metadata.name","-metadata.name"]},Ht={title:"Namespace",textOf:({metadata:e})=>e.namespace??"",sortKeys:["metadata.namespace","-metadata.namespace"]},et={title:"Age",textOf:({metadata:{creationTimestamp:e}})=>e?we(Math.max(0,Date.now()-Date.parse(e))):"",sortKeys:["-metadata.creationTimestamp","metadata.creationTimestamp"]};function h(e){return document.getElementById(e)}var Q=h("collection"),_=h("filter"),rt=h("details"),Se=h("state"),Ne=new Map,$e=new Z,it=!1,O,v,tt,V,Oe=qe(new URL(".",location.href),{onCollection:e=>{Ne.set(e.name,e),ee()},onConnected:e=>{it=e,ee()}}),Ae=h("scroller"),S=new Y({scroller:Ae,table:Ae.querySelector("table"),heads:h("heads"),before:h("before"),rows:h("rows"),after:h("after")},{onWindow:({offset:e,limit:t})=>{v===void 0||v.request.offset===e&&v.request.limit===t||v.replace({offset:e,limit:t})},onSort:e=>v?.replace({sortBy:e===void 0?[]:[e]}),onOpen:Kt});async function ke(e,t){for await(let n of e.changes())t()}function ee(){let e=O&&Ne.get(O.name),t=it?e?.state??"connecting":"disconnected";Se.textContent!==t&&(Se.textContent=t),Se.className=t==="live"?"live":"";let{total:n=0,hasSynced:s=!1}=v??{},r=e?.objects!==void 0&&e.objects!==n?\` of \${e.objects.toLocaleString("en")}\`:"";h("count").textContent=s?\`\${n.toLocaleString("en")}\${r} objects\`:"",h("empty").hidden=!s||n>0}function ot(e){O=e,Me(),v?.[Symbol.dispose](),tt?.[Symbol.dispose]();let{name:t,isTable:n,kind:s}=e;document.title=\`\${s}: informer\`,Ae.querySelector("table").setAttribute("aria-label",t);let r=n?["metadata.name","cells"]:["metadata.name"],i=v=Oe.view({of:t,search:_.value,fields:r,offset:0,limit:150}),o=tt=n?Oe.view({of:t,fields:["columns"],limit:1}):void 0;S.reset(o===void 0?nt(e,void 0):[]);let a="";o!==void 0&&ke(o,()=>{let u=o.rows()[0]?.object?.columns,d=JSON.stringify(u?.map(m=>m.name));u===void 0||d===a||(a=d,S.reset(nt(e,u)),i.hasSynced&&S.show(i.rows(),i.offset,i.total))}),ke(i,()=>{S.show(i.rows(),i.offset,i.total),ee()}),ee()}function nt({scope:e},t){let n=t?.flatMap(({name:s,priority:r,format:i},o)=>r>0?[]:s==="Age"?[et]:i==="name"?[Qe]:[{title:s,textOf:({cells:a})=>Wt(a?.[o]),sortKeys:[\`cells.\${o}\`,\`-cells.\${o}\`]}]);return[...e==="Namespaced"?[Ht]:[],...n??[Qe,et]]}function Wt(e){return e==null?"":typeof e=="object"?JSON.stringify(e):String(e)}function Kt(e){V?.view[Symbol.dispose]();let[t,n]=e.split("/").reverse(),s=Oe.view({of:O.name,...n===void 0?{}:{namespace:n},fieldSelector:\`metadata.name=\${t.replace(/[\\\\,=]/g,"\\\\$&")}\`,...O.isTable?{fields:["object"]}:{},limit:1});V={key:e,view:s},h("title").textContent=e,h("yaml").textContent="",rt.hidden=!1,ke(s,()=>{let r=s.rows()[0]?.object,i=r?Ke(O.isTable?r.object:r):\`\${e} is gone\`;h("yaml").textContent!==i&&(h("yaml").textContent=i)}),h("yaml").focus()}function Me(){V!==void 0&&(V.view[Symbol.dispose](),V=void 0,rt.hidden=!0)}h("close").addEventListener("click",()=>{Me(),S.focus()});addEventListener("keydown",e=>{let t=e.target instanceof HTMLInputElement||e.target instanceof HTMLSelectElement;e.key==="/"&&!t?(e.preventDefault(),_.focus(),_.select()):e.key==="Escape"&&V!==void 0?(Me(),S.focus()):(e.key==="Escape"||e.key==="Enter")&&e.target===_&&S.focus()});var st;_.addEventListener("input",()=>{clearTimeout(st),st=setTimeout(()=>{v?.replace({search:_.value}),S.toTop()},150)});setInterval(()=>{$e.sample(O&&Ne.get(O.name)?.events),h("plot").querySelector("path").setAttribute("d",$e.path(120,24)),h("per_second").textContent=\`\${$e.perSecond} events/s\`,S.refresh()},1e3);var{collections:Te}=await(await fetch(new URL("api",location.href))).json();Q.replaceChildren(...Te.map(({name:e})=>new Option(e,e)));Q.addEventListener("change",()=>ot(Te[Q.selectedIndex]));ot(Te[Q.selectedIndex]);</script>
</body>
</html>
`;

/** The value of `content-security-policy` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = "default-src 'none'; script-src 'sha256-M37IzBcohzyxtKcfMXVu1C0b2wBGumuKtz83YfzT0tI='; style-src 'sha256-ayvKwypdIrH5bJpx+9MRQ1M+pDF5BYBmZZSvBeMm4Pk='; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
