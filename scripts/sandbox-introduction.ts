/** The first part of docs/sandbox.md: how to use the sandbox. By lines. */
export const introduction: readonly string[] = `# The sandbox

The sandbox is a Kubernetes API without a cluster. Authors use it to develop definitions with \`homeostat dev\`; tests of Homeostat use it, too. It simulates controllers and Pods, and no container runs.

## Start

\`\`\`
homeostat dev my-operators/

# in another terminal, in the same folder
export KUBECONFIG=$PWD/.homeostat/kubeconfig
kubectl get operatordefinitions
\`\`\`

\`dev\` loads the definitions of the directory, applies the manifests in its folder \`samples\`, and reloads saved files. \`--persist cluster.json\` keeps all objects for the next start, also those of [member clusters](clusters.md) (\`cluster.dev-1.json\`). [Command line](command-line.md#dev-definitions-with-a-sandbox) lists the other flags.

kubectl works with [some differences](#differences-from-a-cluster). Without kubectl, use \`homeostat get\`, \`apply\`, \`delete\`, \`describe\`, \`tree\` and \`events\`.

## Without definitions

\`homeostat sandbox\` serves the API alone, for tests of other programs: controllers in Go, scripts, anything that reads a kubeconfig.

\`\`\`
homeostat sandbox --write-kubeconfig /tmp/test/kubeconfig
\`\`\`

It is a stand-in for envtest in fast tests. A second sandbox in the same process starts in less than 50 ms, and there are no binaries of etcd and kube-apiserver to download.
Unlike in envtest, controllers and Pods are simulated: a Deployment becomes ready, a CronJob creates Jobs. \`--no-controllers\` leaves only the API server, as in envtest.

TypeScript programs use the sandbox [in their own process](library.md), with a clock that tests move. [\`examples\`](../examples) has tests in TypeScript, Python and Go.

## Outcomes of Pods

By default a Pod is bound to the node \`sandbox-node\` and ready at once. A Pod that is not restarted succeeds. An annotation of the Pod selects another outcome:

| \`sandbox.homeostat.dev/outcome\` | result |
| --- | --- |
| none | running and ready; succeeded, if it is not restarted |
| \`never-ready\` | never ready |
| \`fail\` | failed, if it is not restarted |

Put the annotation into the Pod template of the workload:

\`\`\`yaml
template:
  metadata:
    annotations: { sandbox.homeostat.dev/outcome: never-ready }
\`\`\`

A definition can copy annotations from the resource, so that a sample can select the outcome: \`annotations: "\${ spec.podAnnotations }"\`. The recipe [an Event on failure](recipes/event-on-failure.md) does so.

## Failing Jobs

With \`fail\`, the Pods of a Job fail. The Job creates new Pods up to its \`backoffLimit\` and then fails:

\`\`\`yaml
apiVersion: batch/v1
kind: Job
metadata: { name: import }
spec:
  backoffLimit: 1
  template:
    metadata:
      annotations: { sandbox.homeostat.dev/outcome: fail }
    spec:
      restartPolicy: Never
      containers: [{ name: import, image: busybox }]
\`\`\`

## Time

Simulated controllers act at once. Intermediate states that a cluster shows for seconds may not appear.

Schedules, retries, timeouts and ages follow the clock of the machine. A CronJob creates its Job in the scheduled minute. Schedules of CronJobs that were missed while the sandbox was not running are skipped.

\`homeostat test\` runs definitions on a sandbox with a virtual clock, so a test of hours takes seconds ([tests of definitions](testing.md)).
`.split('\n');
