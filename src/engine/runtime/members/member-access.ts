import { parseYaml } from '#definition';
import { type ClusterConfig, configOfKubeconfig, KubeConfigError } from '#kube';
import { matchesGlob } from '#util/glob.ts';
import { HomeostatError } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { sha256Hex } from '#util/sha256.ts';
import type { ClusterRecord } from './cluster-record.ts';
import type { ConnectionFailure } from './connection-state.ts';

/** Where Secrets with kubeconfigs may be. */
export interface SecretPolicy {
  /** Namespace of Secrets without one. */
  readonly namespace: string;
  /** Globs of the namespaces that may contain them. */
  readonly allowed: readonly string[];
}

/** How a member is reached. */
export interface MemberAccess {
  readonly config: ClusterConfig;
  /** Changes when another connection is needed. */
  readonly digest: string;
}

/** Of a kubeconfig, in characters: those of clusters have some thousand, mostly certificates. */
const maxLength = 262_144;
/** Characters that begin a value of YAML, in a kubeconfig: 250 kB of `{},` would take seconds and 300 MB. */
const maxValues = 5_000;

/** The Secret of a member. Undefined: its namespace is not allowed. */
export function secretRefOf({ secret }: ClusterRecord, { namespace, allowed }: SecretPolicy) {
  const ref = { namespace: secret.namespace ?? namespace, name: secret.name };
  return matchesGlob(ref.namespace, allowed) ? ref : undefined;
}

/**
 * Reads the kubeconfig of a member. Pure.
 * @param secret The live Secret; undefined: it does not exist.
 * @param known What it was before, which is returned if nothing has changed. @default unknown
 */
export function accessOf(
  record: ClusterRecord,
  policy: SecretPolicy,
  secret: KubeObject | undefined,
  known?: MemberAccess,
): MemberAccess | ConnectionFailure {
  const ref = secretRefOf(record, policy);
  if (ref === undefined) {
    const message = `Secrets of namespace "${record.secret.namespace ?? policy.namespace}" are not allowed; the runtime allows "${policy.allowed.join(',')}" (--cluster-secrets)`;
    return { reason: 'Forbidden', message };
  }
  if (secret === undefined) {
    const message = `The Secret "${ref.name}" in namespace "${ref.namespace}" does not exist`;
    return { reason: 'SecretMissing', message };
  }
  const text = kubeconfigIn(secret, record.secret.key);
  if (text === undefined) {
    const keys =
      record.secret.key === undefined ? '"kubeconfig" or "value"' : `"${record.secret.key}"`;
    const message = `Expected the key ${keys} in the Secret "${ref.name}" in namespace "${ref.namespace}"`;
    return { reason: 'SecretMissing', message };
  }
  const { context, expectedUid = '' } = record;
  if (isTooLarge(text)) return { reason: 'InvalidKubeconfig', message: tooLarge };
  const digest = sha256Hex([text, context ?? '', expectedUid].join('\0'));
  if (digest === known?.digest) return known;
  try {
    const config = configOfKubeconfig(parseYaml(text, 'kubectl'), context);
    return { config, digest };
  } catch (error) {
    return { reason: 'InvalidKubeconfig', message: invalidMessage(error) };
  }
}

const tooLarge = `The kubeconfig may have at most ${maxLength} characters and ${maxValues} values; write only the context that is needed`;

function isTooLarge(text: string): boolean {
  if (text.length > maxLength) return true;
  let values = 0;
  for (const _ of text.matchAll(/[\n{[,]/g)) {
    values += 1;
    if (values > maxValues) return true;
  }
  return false;
}

/** A syntax error is not quoted: it could show a token. */
function invalidMessage(error: unknown): string {
  if (error instanceof KubeConfigError) return error.message;
  if (error instanceof HomeostatError) return 'The kubeconfig is no valid YAML';
  throw error;
}

function kubeconfigIn({ data }: KubeObject, key: string | undefined): string | undefined {
  const values = isJsonObject(data) ? data : {};
  const value = key === undefined ? (values.kubeconfig ?? values.value) : values[key];
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : undefined;
}
