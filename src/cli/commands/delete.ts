import { type KindInfo, KubeError } from '#kube';
import { CliError, exitCode } from '../exit-code.ts';
import { requireKind } from './apply.ts';
import {
  type ClusterSession,
  cliFlow,
  type SessionContext,
  withCluster,
} from './cluster-session.ts';
import { readFiles } from './read-files.ts';
import { pathFor, titleOf } from './requests.ts';
import { targetsOf } from './targets.ts';

export interface DeleteOptions {
  readonly filename?: readonly string[];
  readonly cascade: 'background' | 'foreground' | 'orphan';
  /** A missing object is no error. */
  readonly ignoreNotFound?: boolean;
}

export interface DeleteRequest {
  readonly types: string | undefined;
  readonly names: readonly string[];
  readonly options: DeleteOptions;
}

interface DeleteTarget {
  readonly kind: KindInfo;
  readonly name: string;
  /** @default the namespace of the command */
  readonly namespace: string | undefined;
}

const policies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

/** `homeostat delete TYPE NAME...` or `-f FILE...`. Does not wait for finalizers. @throws CliError */
export async function deleteObjects(
  context: SessionContext,
  request: DeleteRequest,
): Promise<number> {
  const { filename } = request.options;
  if ((filename === undefined) === (request.types === undefined))
    throw new CliError('Expected "TYPE NAME..." or "-f FILE"', {
      hint: 'For example: homeostat delete podset example',
    });
  const objects = filename === undefined ? [] : await readFiles(filename, context.output);
  return withCluster(context, async (session) => {
    const targets = [
      ...namedTargets(session, request),
      // Delete in reverse order of creation.
      ...objects.toReversed().map((object) => ({
        kind: requireKind(session, object),
        name: object.metadata.name,
        namespace: object.metadata.namespace,
      })),
    ];
    for (const target of targets) await deleteOne(session, target, request.options);
    return exitCode.ok;
  });
}

function namedTargets(
  { kinds }: ClusterSession,
  { types, names }: DeleteRequest,
): readonly DeleteTarget[] {
  if (types === undefined) return [];
  return targetsOf(kinds, types, names).flatMap((target) => {
    if (target.names.length === 0)
      throw new CliError('Expected the names of the objects to delete', {
        hint: 'For example: homeostat delete podset example',
      });
    return target.names.map((name) => ({ kind: target.kind, name, namespace: undefined }));
  });
}

async function deleteOne(
  session: ClusterSession,
  { kind, name, namespace = session.namespace }: DeleteTarget,
  { cascade, ignoreNotFound }: DeleteOptions,
): Promise<void> {
  const title = titleOf(kind, name);
  try {
    const { body } = await session.cluster.api.request(
      {
        method: 'DELETE',
        path: pathFor({ ...session, namespace }, kind, { name }),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: policies[cascade] },
        flow: cliFlow,
      },
      session.signal,
    );
    const isHeld = (body as { readonly kind?: unknown }).kind !== 'Status';
    session.output.print(`${title} ${isHeld ? 'is being deleted' : 'deleted'}`);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'not-found') throw error;
    if (ignoreNotFound !== true) throw error;
  }
}
