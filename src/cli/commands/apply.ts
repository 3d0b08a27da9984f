import { type KindInfo, KubeError } from '#kube';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import {
  type ClusterSession,
  cliFlow,
  type SessionContext,
  withCluster,
} from './cluster-session.ts';
import { readFiles } from './read-files.ts';
import { titleOf } from './requests.ts';

export interface ApplyOptions {
  readonly filename: readonly string[];
  /** Take fields from other managers. */
  readonly forceConflicts?: boolean;
}

const fieldManager = 'homeostat-cli';

/** `homeostat apply -f FILE...`: server-side apply of all objects, in their order. @throws CliError at the first that is rejected. */
export async function apply(context: SessionContext, options: ApplyOptions): Promise<number> {
  const objects = await readFiles(options.filename, context.output);
  return withCluster(context, async (session) => {
    for (const object of objects) {
      const kind = requireKind(session, object);
      const placed = withNamespace(session, kind, object);
      const title = titleOf(kind, object.metadata.name);
      const { created } = await session.cluster
        .apply(
          placed,
          { fieldManager, force: options.forceConflicts === true, flow: cliFlow },
          session.signal,
        )
        .catch((error: unknown) => throwApplyError(error, title));
      session.output.print(`${title} ${created ? 'created' : 'applied'}`);
    }
    return exitCode.ok;
  });
}

/** Adds the object's name: the message of the server does not always have it. */
function throwApplyError(error: unknown, title: string): never {
  if (!(error instanceof KubeError) || error.status === 0) throw error;
  const hint =
    error.code === 'field-conflict' ? { hint: 'Take the fields over with --force-conflicts' } : {};
  throw new CliError(`${title} was rejected: ${error.message}`, { ...hint, cause: error });
}

/** The kind of a manifest. @throws CliError for a kind that the server does not serve */
export function requireKind({ kinds }: ClusterSession, { apiVersion, kind }: KubeObject): KindInfo {
  const info = kinds.of(apiVersion, kind);
  if (info !== undefined) return info;
  // Not preferred, but perhaps served all the same; a CRD that was applied just now is not known yet either.
  const { group } = gvkOf(apiVersion, kind);
  throw new CliError(`The server does not serve "${kind}" of "${apiVersion}"`, {
    hint: hintFor(group, kind),
  });
}

function hintFor(group: string, kind: string): string {
  if (group === '') return 'Is it spelled as in the documentation?';
  if (kind === 'OperatorDefinition') return 'Give its file to "run --definitions", or to "dev"';
  return 'Is its definition or CRD there?';
}

/** A namespaced object is in its own namespace, or in that of the command. */
export function withNamespace(
  { namespace }: ClusterSession,
  kind: Pick<KindInfo, 'namespaced'>,
  object: KubeObject,
): KubeObject {
  if (!kind.namespaced || object.metadata.namespace !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}
