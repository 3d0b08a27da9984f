import type { TestCluster } from '#simulation';
import { type Gvk, gvkKey, gvkOf } from '#util/gvk.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';

/** Conditions that say why an object is not as expected. */
const conditionTypes = new Set(['Ready', 'Synced', 'Reachable']);
const ownApiVersion = 'homeostat.dev/v1alpha1';
const httpKinds = ['HttpEndpoint', 'HttpObject'].map((kind) => gvkOf(ownApiVersion, kind));
/** More lines do not help. */
const maxLines = 20;

/** The conditions that are not true, of resources of these kinds and of objects behind HTTP, one a line. */
export async function unmetConditions(
  cluster: Pick<TestCluster, 'all'>,
  kinds: readonly Gvk[],
): Promise<readonly string[]> {
  const wanted = new Set([...kinds, ...httpKinds].map(gvkKey));
  const objects = await cluster.all();
  return objects
    .filter(({ apiVersion, kind }) => wanted.has(gvkKey(gvkOf(apiVersion, kind))))
    .flatMap(linesOf)
    .slice(0, maxLines);
}

function linesOf(object: KubeObject): readonly string[] {
  const { namespace, name } = object.metadata;
  const title = `${object.kind}/${namespace === undefined ? '' : `${namespace}/`}${name}`;
  return conditionsOf(object)
    .filter(({ type, status }) => conditionTypes.has(String(type)) && status !== 'True')
    .map(({ type, status, reason, message }) => {
      const text = message === undefined || message === '' ? '' : `: ${message}`;
      return `${title}: ${type} is ${status}, reason ${reason}${text}`;
    });
}
