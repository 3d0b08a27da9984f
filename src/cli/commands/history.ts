import { KubeError } from '#kube';
import { type ListedRecord, listedRecord, storedVersions } from '#reconcile';
import { apiVersionOf, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import {
  type ClusterSession,
  cliFlow,
  type SessionContext,
  withCluster,
} from './cluster-session.ts';
import { tableLines } from './print-table.ts';
import { listObjects, readObject } from './requests.ts';

export interface HistoryFlags {
  readonly allNamespaces?: boolean;
  /** Only its versions. @default those of all definitions */
  readonly definition?: string;
  /** Sign the named versions. @default false */
  readonly sign?: boolean;
  /** @default the first namespace with keys */
  readonly runtimeNamespace?: string;
}

interface StoredVersion extends ListedRecord {
  readonly stored: KubeObject;
}

/**
 * `homeostat history [NAME...]`: lists stored versions and whether they are authentic, or signs those that an administrator names.
 * @returns 1 if a version to sign cannot be signed
 * @throws CliError
 */
export function history(
  context: SessionContext,
  names: readonly string[],
  flags: HistoryFlags,
): Promise<number> {
  const { sign = false, allNamespaces = false } = flags;
  if (sign && (names.length === 0 || allNamespaces))
    throw new CliError('Expected the names of the versions to sign, in one namespace', {
      hint: '"homeostat history" lists them',
    });
  return withCluster(context, async (session) => {
    const all = await readVersions(session, flags);
    const found = all.filter(
      ({ stored }) => names.length === 0 || names.includes(stored.metadata.name),
    );
    const missing = names.find((name) =>
      found.every(({ stored }) => stored.metadata.name !== name),
    );
    if (missing !== undefined) throw new CliError(`There is no stored version "${missing}"`);
    if (sign) return signAll(session, found);
    if (found.length === 0) session.output.error('No stored versions found');
    else for (const line of linesOf(found, allNamespaces)) session.output.print(line);
    return exitCode.ok;
  });
}

async function readVersions(
  session: ClusterSession,
  { allNamespaces = false, definition, runtimeNamespace }: HistoryFlags,
): Promise<readonly StoredVersion[]> {
  const keys = await readKeys(session, runtimeNamespace);
  const { namespace: clusterNamespace = runtimeNamespace ?? '' } = keys?.metadata ?? {};
  const { label, kinds } = storedVersions;
  const selector = definition === undefined ? label : `${label}=${definition}`;
  const lists = await Promise.all(
    kinds.map((gvk) => {
      const kind = session.kinds.of(apiVersionOf(gvk), gvk.kind);
      return kind === undefined ? [] : listObjects(session, kind, { allNamespaces, selector });
    }),
  );
  const options = { keys, clusterNamespace };
  return lists
    .flat()
    .map((stored) => ({ ...listedRecord(stored, options), stored }))
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

/** The keys of the runtime. Undefined: it has none. */
async function readKeys(
  session: ClusterSession,
  chosen: string | undefined,
): Promise<KubeObject | undefined> {
  const { gvk, name, namespaces } = storedVersions.keys;
  const kind = session.kinds.of(gvk.version, gvk.kind);
  if (kind === undefined) return undefined;
  for (const namespace of chosen === undefined ? namespaces : [chosen]) {
    try {
      return await readObject({ ...session, namespace }, kind, name);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'not-found') throw error;
    }
  }
  return undefined;
}

async function signAll(
  { cluster, output, signal }: ClusterSession,
  versions: readonly StoredVersion[],
): Promise<number> {
  let isComplete = true;
  for (const { stored, state, signature } of versions) {
    const { name, namespace = '', uid = '', resourceVersion } = stored.metadata;
    if (state === 'authentic') {
      output.print(`${name} is authentic`);
      continue;
    }
    if (signature === undefined) {
      output.error(`${name} cannot be signed: ${reasonOf(state)}`);
      isComplete = false;
      continue;
    }
    const ref = { gvk: gvkOf(stored.apiVersion, stored.kind), namespace, name };
    const change = (metadata: { readonly resourceVersion?: string }) =>
      metadata.resourceVersion === resourceVersion ? { annotations: signature } : undefined;
    const options = { flow: cliFlow, uid, cached: stored, change };
    const isSigned = (await cluster.editMetadata(ref, options, signal)) !== undefined;
    if (isSigned) output.print(`${name} signed`);
    else output.error(`${name} has changed and was not signed`);
    isComplete &&= isSigned;
  }
  return isComplete ? exitCode.ok : exitCode.failure;
}

function reasonOf(state: StoredVersion['state']): string {
  return state === 'invalid'
    ? 'it contradicts itself, or its fields were not written by Homeostat'
    : 'the runtime has no key; it creates one when a definition uses "history"';
}

const stateTexts: Readonly<Record<StoredVersion['state'], string>> = {
  authentic: 'authentic',
  unsigned: 'unsigned',
  'unknown-key': 'key lost',
  forged: 'forged',
  invalid: 'invalid',
};

function linesOf(versions: readonly StoredVersion[], withNamespace: boolean): readonly string[] {
  const header = ['NAME', 'DEFINITION', 'OBJECT', 'STATE'];
  const rows = versions.map(({ stored: { metadata }, definition, object, state }) => [
    ...(withNamespace ? [metadata.namespace ?? ''] : []),
    ...[metadata.name, definition, object, stateTexts[state]],
  ]);
  return tableLines(withNamespace ? ['NAMESPACE', ...header] : header, rows);
}

function placeOf({ stored: { metadata } }: StoredVersion): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
