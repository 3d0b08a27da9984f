import { buildTree, treeLines } from '../../dev/index.ts';
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
    // Children may be in other namespaces and of any kind. Events are many and have no owner.
    const others = session.kinds.all.filter(({ gvk }) => gvk.kind !== 'Event');
    const objects = await listAll(session, others, { allNamespaces: true });
    for (const line of treeLines(buildTree(roots.flat(), objects))) session.output.print(line);
    if (roots.flat().length === 0) session.output.error('No resources found');
    return exitCode.ok;
  });
}

/** Kinds of resources, without the kind of definitions. */
function customKinds({ kinds }: ClusterSession): readonly Target[] {
  const custom = kinds.all.filter(
    (kind) => !isBuiltInKind(kind) && kind.gvk.group !== 'homeostat.dev',
  );
  return custom.map((kind) => ({ kind, names: [] }));
}
