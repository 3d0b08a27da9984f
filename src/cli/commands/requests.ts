import { type KindInfo, KubeError, pathOf } from '#kube';
import { apiVersionOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type ClusterSession, cliFlow } from './cluster-session.ts';

/** Selects objects of a kind. */
export interface Selection {
  readonly name?: string;
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
}

/** The path of a collection or of an object. */
export function pathFor(
  { namespace }: ClusterSession,
  kind: KindInfo,
  { name, allNamespaces = false }: Selection,
): string {
  return pathOf(kind, {
    ...(allNamespaces ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  });
}

/** GETs an object or a list, in the requested media type. @throws KubeError */
export async function requestObjects(
  session: ClusterSession,
  kind: KindInfo,
  selection: Selection,
  accept?: string,
): Promise<unknown> {
  const { selector, fieldSelector } = selection;
  const query = {
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
  const { body } = await session.cluster.api.request(
    {
      method: 'GET',
      path: pathFor(session, kind, selection),
      query,
      flow: cliFlow,
      ...(accept === undefined ? {} : { accept }),
    },
    session.signal,
  );
  return body;
}

/** One object. @throws KubeError `not-found` */
export async function readObject(
  session: ClusterSession,
  kind: KindInfo,
  name: string,
): Promise<KubeObject> {
  return (await requestObjects(session, kind, { name })) as KubeObject;
}

/** All objects of a kind, each with `apiVersion` and `kind`, which items of a list lack. @throws KubeError */
export async function listObjects(
  session: ClusterSession,
  kind: KindInfo,
  selection: Selection,
): Promise<readonly KubeObject[]> {
  const list = (await requestObjects(session, kind, selection)) as {
    readonly items?: readonly KubeObject[];
  };
  const head = { apiVersion: apiVersionOf(kind.gvk), kind: kind.gvk.kind };
  return (list.items ?? []).map((item) => ({ ...item, ...head }));
}

/** All objects of these kinds. Kinds that the user may not list are left out. */
export async function listAll(
  session: ClusterSession,
  kinds: readonly KindInfo[],
  selection: Selection,
): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(
    kinds
      .filter(({ verbs }) => verbs.includes('list'))
      .map((kind) => listObjects(session, kind, selection).catch(emptyIfRejected)),
  );
  return lists.flat();
}

function emptyIfRejected(error: unknown): readonly KubeObject[] {
  if (error instanceof KubeError && error.status >= 400 && error.status < 500) return [];
  throw error;
}

/** `podset.apps.example.com/web`, `pod/web`. */
export function titleOf({ gvk }: KindInfo, name: string): string {
  return `${gvk.kind.toLowerCase()}${gvk.group === '' ? '' : `.${gvk.group}`}/${name}`;
}
