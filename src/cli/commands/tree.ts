import { treeLines } from '#dev';
import { httpKinds } from '#http-objects/kinds/index.ts';
import { groupKindKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { buildTree, type TreeNode } from '#util/object-tree/object-tree.ts';
import { exitCode } from '../exit-code.ts';
import { type ClusterSession, type SessionContext, withCluster } from './cluster-session.ts';
import { isBuiltInKind } from './kinds.ts';
import { listAll, listObjects, readObject } from './requests.ts';
import { type Target, targetsOf } from './targets.ts';

export interface TreeRequest {
  /** `podsets`, `podset/example`; undefined = all kinds that CRDs define. */
  readonly types: string | undefined;
  /** Empty: all. */
  readonly names: readonly string[];
  readonly options: { readonly allNamespaces?: boolean };
}

/** `homeostat tree [TYPE [NAME...]]`: resources, each with the objects that it owns below. @throws CliError */
export function tree(
  context: SessionContext,
  { types, names, options }: TreeRequest,
): Promise<number> {
  return withCluster(context, async (session) => {
    const targets =
      types === undefined ? customKinds(session) : targetsOf(session.kinds, types, names);
    const { allNamespaces = false } = options;
    const roots = await Promise.all(
      targets.map(({ kind, names }) =>
        names.length === 0
          ? listObjects(session, kind, { allNamespaces })
          : Promise.all(names.map((name) => readObject(session, kind, name))),
      ),
    );
    for (const line of treeLines(await readTree(session, roots.flat()))) session.output.print(line);
    if (roots.flat().length === 0) session.output.error('No resources found');
    return exitCode.ok;
  });
}

/** The tree below these objects. Children may be in other namespaces and of any kind. */
export async function readTree(
  session: ClusterSession,
  roots: readonly KubeObject[],
): Promise<readonly TreeNode[]> {
  // Events are many and have no owner.
  const others = session.kinds.all.filter(({ gvk }) => gvk.kind !== 'Event');
  return buildTree(roots, await listAll(session, others, { allNamespaces: true }));
}

/** Kinds of resources, and objects behind HTTP, which may have no resource; without the other kinds of the runtime. */
function customKinds({ kinds }: ClusterSession): readonly Target[] {
  const http = new Set(httpKinds.map(({ gvk }) => groupKindKey(gvk)));
  const custom = kinds.all.filter(
    (kind) =>
      !isBuiltInKind(kind) &&
      (kind.gvk.group !== 'homeostat.dev' || http.has(groupKindKey(kind.gvk))),
  );
  return custom.map((kind) => ({ kind, names: [] }));
}
