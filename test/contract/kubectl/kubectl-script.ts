/** One command of the script, as both servers are given it. */
export interface KubectlStep {
  /** Without `kubectl`. */
  readonly run: string;
  /** The numbers of what it shows in `ranked/behaviours.ts`. */
  readonly ranked?: readonly number[];
  /** For `-f -`. */
  readonly input?: string;
  /** The command runs until it has printed so many lines. */
  readonly lines?: number;
  /** Commands that are run meanwhile, one after each line that it printed. */
  readonly during?: readonly string[];
  /** What `edit` is to do to the file. */
  readonly editor?: string;
  /** Older ones are not asked, and why. */
  readonly newestOnly?: string;
  /** Only lines that match are compared. */
  readonly compares?: RegExp;
  /** The servers say different things, and why; how the command ends is compared still. */
  readonly differs?: string;
}

const web = (image: string, more = '') => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: c
        image: "${image}"
        ports: [{containerPort: 80}]
        env: [{name: A, value: a}${more}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {a: "1"}
`;

const conf = (value: string) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: applied}
data: {a: "${value}"}
`;

const pruned = (...names: readonly string[]) =>
  names
    .map(
      (name) => `
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned-${name}, labels: {prune: me}}
`,
    )
    .join('---');

const controller = `
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 0
  template:
    metadata: {labels: {tier: old}}
    spec: {containers: [{name: c, image: "nginx:1"}]}
`;

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.kubectl.demo.io}
spec:
  group: kubectl.demo.io
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gad]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Text, type: string, jsonPath: .spec.text, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              text: {type: string, default: hello}
              replicas: {type: integer}
          status:
            type: object
            properties:
              replicas: {type: integer}
`;

const gadget = (size: string) => `
apiVersion: kubectl.demo.io/v1
kind: Gadget
metadata: {name: one}
spec: {size: ${size}}
`;

const node = `
apiVersion: v1
kind: Node
metadata: {name: kubectl-node, labels: {disk: slow}}
`;

const event = `
apiVersion: v1
kind: Event
metadata: {name: told, namespace: kubectl}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: conf, namespace: kubectl}
reason: Told
message: something was said
type: Normal
source: {component: script}
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 1
`;

const oldAutoscaling =
  'kubectl before 1.33 makes autoscalers of autoscaling/v1, which the sandbox does not serve';

/** How many lines say how far it is depends on its speed. */
const rolledOut = /successfully rolled out/;

/** kubectl validates lists with OpenAPI v2. */
const listed = (kind: string) => `apiVersion: v1
kind: ${kind}
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: listed-a }, data: { a: "1" } }
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: listed-b }, data: { a: "1" } }
`;

/** What people do with kubectl, in the namespace `kubectl`. */
export const kubectlScript: readonly KubectlStep[] = [
  { run: 'apply -f -', input: web('nginx:1') },
  { run: 'rollout status deploy/web --timeout=60s', compares: rolledOut },
  { run: 'apply -f -', input: web('nginx:1') },
  { run: 'get deploy web' },
  { run: 'get deploy web -o wide' },
  { run: 'get deploy,svc,rs' },
  { run: 'get pods -l app=web' },
  { run: 'get all' },
  { run: 'get deploy web -o jsonpath={.spec.template.spec.containers[0]}' },
  { run: 'get deploy web -o yaml' },
  { run: 'get svc web -o yaml' },
  { run: 'get deploy -o name' },
  { run: 'get deploy -o custom-columns=NAME:.metadata.name,R:.spec.replicas' },
  { run: 'describe deploy web' },
  { run: 'describe cm conf' },
  { run: 'diff -f -', input: web('nginx:2', ', {name: B, value: b}') },
  {
    run: 'diff --server-side -f -',
    input: web('nginx:2'),
    differs: 'server-side fields of the last client-side apply come with it',
  },
  { run: 'apply -f - --dry-run=server', input: web('nginx:2') },
  { run: 'apply -f -', input: web('nginx:2', ', {name: B, value: b}') },
  { run: 'rollout status deploy/web --timeout=60s', compares: rolledOut },
  { run: 'get deploy web -o jsonpath={.spec.template.spec.containers[0].env}' },
  { run: 'rollout history deploy/web' },
  { run: 'rollout undo deploy/web' },
  { run: 'rollout status deploy/web --timeout=60s', compares: rolledOut },
  { run: 'rollout history deploy/web' },
  { run: 'rollout history deploy/web --revision=3' },
  { run: 'rollout pause deploy/web' },
  { run: 'rollout pause deploy/web' },
  { run: 'rollout undo deploy/web' },
  { run: 'rollout restart deploy/web' },
  { run: 'rollout resume deploy/web' },
  { run: 'rollout resume deploy/web' },
  { run: 'rollout restart deploy/web' },
  { run: 'rollout status deploy/web --timeout=60s', compares: rolledOut },
  { run: 'get deploy web -o jsonpath={.spec.template.metadata.annotations}' },
  { run: 'set image deploy/web c=nginx:3' },
  { run: 'set env deploy/web A=changed' },
  { run: 'get deploy web -o jsonpath={.spec.template.spec.containers[0].image}' },
  { run: 'scale deploy web --replicas=1' },
  { run: 'wait --for=jsonpath={.status.readyReplicas}=1 deploy/web --timeout=60s' },
  { run: 'wait --for=condition=Available deploy/web --timeout=60s' },
  { run: 'wait --for=condition=Nonsense deploy/web --timeout=1s' },
  { run: 'scale deploy web --replicas=2 --current-replicas=7' },
  { run: 'patch deploy web -p {"spec":{"paused":true}}' },
  { run: 'patch deploy web --type=json -p [{"op":"remove","path":"/spec/paused"}]' },
  { run: 'patch cm conf --type=merge -p {"data":{"b":"2"}}' },
  { run: 'patch cm conf -p {"data":{"b":null}}' },
  { run: 'patch cm conf -p nonsense' },
  { run: 'get cm conf -o yaml' },
  { run: 'label cm conf tier=back' },
  { run: 'label cm conf tier=front' },
  { run: 'label cm conf tier=front --overwrite' },
  { run: 'get cm -l tier=front' },
  { run: 'get cm -L tier -l tier' },
  { run: 'get cm conf --show-labels' },
  { run: 'annotate cm conf note=said' },
  { run: 'annotate cm conf note-' },
  { run: 'edit cm conf', editor: 's/a: "1"/a: "edited"/' },
  { run: 'get cm conf -o jsonpath={.data.a}' },
  { run: 'apply -f -', input: conf('1') },
  { run: 'apply --server-side -f -', input: conf('2'), ranked: [56] },
  { run: 'get cm applied -o jsonpath={.metadata.managedFields[*].manager}', ranked: [56] },
  { run: 'apply --server-side --field-manager=other -f -', input: conf('3') },
  { run: 'apply --server-side --field-manager=other --force-conflicts -f -', input: conf('3') },
  { run: 'get cm applied -o yaml --show-managed-fields', ranked: [56] },
  { run: 'create -f -', input: conf('1') },
  { run: 'replace -f -', input: conf('9') },
  { run: 'get cm applied -o jsonpath={.data}' },
  { run: 'apply -f -', input: listed('List') },
  { run: 'apply -f -', input: listed('ConfigMapList') },
  { run: 'apply --server-side --force-conflicts -f -', input: listed('List') },
  { run: 'replace -f -', input: listed('List') },
  { run: 'delete -f -', input: listed('List') },
  { run: 'create -f -', input: listed('ConfigMapList') },
  { run: 'create cm made --from-literal=x=1' },
  { run: 'create cm made --from-literal=x=1' },
  { run: 'create secret generic hidden --from-literal=a=b' },
  { run: 'get secret hidden' },
  { run: 'describe secret hidden' },
  { run: 'create sa robot' },
  { run: 'create role reader --verb=get,list --resource=pods' },
  { run: 'create rolebinding readers --role=reader --serviceaccount=kubectl:robot' },
  { run: 'get role,rolebinding -o wide' },
  { run: 'describe role reader' },
  { run: 'create clusterrole kubectl-reader --verb=get --non-resource-url=/x' },
  { run: 'create quota limits --hard=pods=30' },
  { run: 'get quota' },
  { run: 'create pdb web --selector=app=web --min-available=1' },
  { run: 'get pdb' },
  { run: 'create ingress web --rule=web.example/=web:80 --class=public' },
  { run: 'get ing' },
  { run: 'describe ing web' },
  { run: 'create service nodeport np --tcp=80:8080' },
  { run: 'get svc np' },
  { run: 'create service externalname ext --external-name=a.example' },
  { run: 'get svc ext' },
  { run: 'create job once --image=busybox -- true' },
  { run: 'get job once' },
  { run: 'create cronjob often --image=busybox --schedule="*/5 * * * *"' },
  { run: 'get cronjob' },
  { run: 'create priorityclass kubectl-high --value=10' },
  { run: 'get priorityclass kubectl-high' },
  { run: 'create deployment second --image=nginx --replicas=1' },
  { run: 'expose deploy second --port=80' },
  { run: 'autoscale deploy second --min=1 --max=3', newestOnly: oldAutoscaling },
  { run: 'get hpa', newestOnly: oldAutoscaling },
  { run: 'create deployment third --image=nginx --dry-run=server' },
  { run: 'get deploy third' },
  { run: 'run single --image=nginx --restart=Never' },
  { run: 'get pod single -o jsonpath={.spec.restartPolicy}' },
  { run: 'logs single' },
  { run: 'logs nothing' },
  { run: 'top pod' },
  { run: 'top node' },
  { run: 'get pods nothing' },
  { run: 'get nonsense' },
  { run: 'get cm --field-selector metadata.name=conf' },
  { run: 'get cm --field-selector data=1' },
  { run: 'get cm -l a=b=c' },
  { run: 'create -f -', input: event },
  { run: 'events --for configmap/conf' },
  { run: 'get events --field-selector involvedObject.name=conf' },
  {
    run: 'get cm conf -w',
    lines: 5,
    during: [
      'annotate cm conf seen=1',
      'label cm conf seen=1',
      'annotate cm conf seen=2 --overwrite',
    ],
  },
  { run: 'auth can-i create pods' },
  { run: 'auth can-i "*" "*"' },
  { run: 'auth can-i get pods --subresource=log' },
  { run: 'auth can-i list nonsense' },
  {
    run: 'auth can-i --list',
    compares: /^Resources /,
    differs: 'the sandbox has one rule for all',
  },
  { run: 'auth whoami', differs: 'the sandbox knows one user' },
  { run: 'cluster-info' },
  {
    run: 'api-versions',
    compares: /^(apps|batch|apiextensions\.k8s\.io|rbac\.authorization\.k8s\.io|policy)\/|^v1$/,
    differs: 'the sandbox serves fewer groups',
  },
  { run: 'api-resources --api-group=apps' },
  { run: 'api-resources --api-group=batch -o name' },
  { run: 'api-resources --namespaced=false --api-group=rbac.authorization.k8s.io' },
  { run: 'explain deploy.spec.strategy' },
  { run: 'explain pod' },
  { run: 'explain pod.spec.containers.image' },
  { run: 'explain pod --recursive' },
  { run: 'explain pod.nonsense' },
  {
    run: 'version',
    compares: /^(Client|Kustomize) Version/,
    differs: 'the sandbox says that it is one',
  },
  { run: 'apply -f -', input: crd },
  { run: 'wait --for=condition=Established crd/gadgets.kubectl.demo.io --timeout=60s' },
  { run: 'apply -f -', input: gadget('1') },
  { run: 'apply -f -', input: gadget('2') },
  { run: 'apply -f -', input: gadget('0') },
  { run: 'apply -f -', input: gadget('two') },
  { run: 'apply --server-side --field-manager=other -f -', input: gadget('3') },
  { run: 'get gad' },
  { run: 'get gadgets -o wide' },
  { run: 'get gadget one -o yaml' },
  { run: 'describe gadget one' },
  { run: 'patch gadget one --type=merge -p {"spec":{"text":"patched"}}' },
  { run: 'patch gadget one -p {"spec":{"text":"patched"}}' },
  { run: 'patch gadget one --subresource=status --type=merge -p {"status":{"replicas":3}}' },
  { run: 'scale gadget one --replicas=3' },
  { run: 'get gadget one -o jsonpath={.spec.replicas}/{.status.replicas}' },
  { run: 'explain gadget.spec' },
  { run: 'explain gadget' },
  { run: 'explain gadget --recursive' },
  { run: 'explain gadget.metadata.labels' },
  { run: 'delete gadget one' },
  { run: 'create -f -', input: node },
  { run: 'get node kubectl-node -o jsonpath={.metadata.labels}' },
  { run: 'cordon kubectl-node' },
  { run: 'cordon kubectl-node' },
  { run: 'get node kubectl-node -o jsonpath={.spec.unschedulable}' },
  { run: 'uncordon kubectl-node' },
  { run: 'taint node kubectl-node key=value:NoSchedule' },
  { run: 'taint node kubectl-node key=other:NoSchedule' },
  { run: 'taint node kubectl-node key=other:NoSchedule --overwrite' },
  { run: 'taint node kubectl-node key-' },
  { run: 'label node kubectl-node disk=fast' },
  { run: 'delete node kubectl-node' },
  { run: 'delete crd gadgets.kubectl.demo.io' },
  { run: 'get gadgets' },
  { run: 'delete deploy second --cascade=orphan' },
  { run: 'get rs -l app=second' },
  { run: 'delete rs -l app=second' },
  { run: 'wait --for=delete pod -l app=second --timeout=60s' },
  { run: 'delete deploy web --cascade=foreground' },
  { run: 'get deploy,rs -l app=web' },
  { run: 'delete deploy web' },
  { run: 'delete pod single --grace-period=0 --force' },
  { run: 'delete deploy web --ignore-not-found' },
  { run: 'delete -f -', input: web('nginx:1') },
  { run: 'delete cm --all' },
  // Prunes what it applied before and what is not said any more, of every kind that it knows.
  { run: 'apply -f - --prune -l prune=me', input: pruned('one', 'two'), compares: /^configmap/ },
  { run: 'apply -f - --prune -l prune=me', input: pruned('one'), compares: /^configmap/ },
  { run: 'get cm -l prune=me -o name' },
  { run: 'create -f -', input: controller },
  { run: 'get rc' },
  { run: 'get rc -o wide' },
  { run: 'scale rc old --replicas=0' },
  { run: 'describe rc old', compares: /^(Name|Namespace|Selector|Labels|Replicas| {4}Image):/ },
  { run: 'cluster-info dump', compares: /^ *"kind": ".*List"/ },
  { run: 'delete rc old' },
  { run: 'delete ns default' },
  { run: 'delete ns kube-system' },
  { run: 'delete clusterrole kubectl-reader' },
  { run: 'delete priorityclass kubectl-high' },
  { run: 'delete namespace kubectl' },
];
