import { createManifestCheck } from '#check';
import { builtinDocuments, bundledSchemas, patternProblem } from '#compile';
import { parseYaml } from '#definition';
import { type ApiRequest, createClusterOn } from '#kube';
import { ClusterRuntime } from '#runtime';
import { createSandbox } from '#sandbox';
import { EditableSource, SandboxClient } from '#simulation';
import type { KubeObject } from '#util/kube-object.ts';
import { nextTurn } from '#util/next-turn.ts';
import { createSystemRandom } from '#util/random.ts';
import { FairTimeSlicer } from '#util/time-slicer.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freshMetrics, silentLogger } from '../../support/silent-telemetry.ts';

/** A status and a message in place of the answer to a request. */
export type Storm = (
  request: ApiRequest,
) => { readonly status: number; readonly message: string } | undefined;

/** Then requests are no longer answered: without a pause, they would not end. */
const maxRequests = 20_000;

/** A runtime with a definition on a simulated cluster, whose answers a test replaces. Time moves when the test says so. */
export async function startStormHub(definition: string) {
  const clock = new FakeClock();
  const random = createSystemRandom();
  const shared = { clock, random, logger: silentLogger(), metrics: freshMetrics() };
  const { kubernetesVersion, ...schemas } = builtinDocuments();
  const sandbox = createSandbox({
    ...{ clock, random, schemas, kubernetesVersion, patternProblem, controllers: true },
    parseYaml: (text) => parseYaml(text, 'kubectl'),
    onInternalError: (error) => {
      throw error;
    },
  });
  const counts = new Map<string, number>();
  let storm: Storm | undefined;
  let requests = 0;
  const onRequest = (request: ApiRequest) => {
    if (storm === undefined) return undefined;
    requests += 1;
    const key = `${request.method} ${request.path}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (requests > maxRequests) throw new Error(`Expected fewer requests: ${key}`);
    const found = storm(request);
    if (found === undefined) return undefined;
    const { status, message } = found;
    const reason = status === 403 ? 'Forbidden' : 'InternalError';
    const body = JSON.stringify({ kind: 'Status', code: status, reason, message });
    return { status, headers: { 'content-type': 'application/json' }, body };
  };
  const known = bundledSchemas();
  const connect = (userAgent: string, hook?: typeof onRequest) =>
    createClusterOn(new SandboxClient({ sandbox, userAgent, ...(hook && { onRequest: hook }) }), {
      ...shared,
      knownSchema: (gvk) => known.schemaFor(gvk),
    });
  const cluster = connect('homeostat', onRequest);
  const user = connect('user');
  const check = createManifestCheck(known);
  const runtime = new ClusterRuntime({
    ...shared,
    ...{ cluster, check, allowBreakingChanges: true, readsObjects: true, name: 'storm' },
    timeSlicer: new FairTimeSlicer({ defer: (callback) => void nextTurn().then(callback) }),
    sources: [new EditableSource([{ file: 'storm.yaml', text: definition }])],
    guardedNamespaces: new Set(),
    definitionsNamespace: undefined,
    onFindings: () => undefined,
  });
  const stop = new AbortController();
  const ended = runtime.run(stop.signal);
  const flow = { name: 'test', priority: 'object' } as const;
  const { signal } = stop;

  return {
    clock,
    runtime,
    /** Moves time until the condition is met. */
    async until(isMet: () => boolean | Promise<boolean>): Promise<void> {
      for (let seconds = 0; !(await isMet()); seconds++) {
        if (seconds > 600) throw new Error('Expected the state within ten minutes');
        await clock.advance(1_000);
      }
    },
    apply: (manifest: KubeObject) =>
      user.api.request(
        {
          ...{ method: 'PATCH', flow, path: pathOf(manifest), body: manifest as never },
          query: { fieldManager: 'user', force: 'true' },
          contentType: 'application/apply-patch+yaml',
        },
        signal,
      ),
    read: (path: string) =>
      user.api.request({ method: 'GET', path, flow }, signal).then(
        ({ body }) => body as KubeObject,
        () => undefined,
      ),
    remove: (path: string) => user.api.request({ method: 'DELETE', path, flow }, signal),
    /** From now on, requests are counted, and answered by the storm. */
    begin(next: Storm): ReadonlyMap<string, number> {
      storm = next;
      return counts;
    },
    end: () => {
      storm = undefined;
    },
    async close(): Promise<void> {
      storm = undefined;
      stop.abort(new Error('The test is over'));
      const closed = Promise.all([ended, cluster.close(), user.close()]);
      await clock.advance(60_000);
      await closed;
      sandbox.stop();
    },
  };
}

function pathOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}/namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}`;
}
