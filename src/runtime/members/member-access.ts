import { parseYaml } from '../../definition/index.ts';
import { type ClusterConfig, configOfKubeconfig, KubeConfigError } from '../../kube/index.ts';
import { matchesGlob } from '../../util/glob.ts';
import { HomeostatError } from '../../util/homeostat-error.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { sha256Hex } from '../../util/sha256.ts';
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

/** The Secret of a member. Undefined: its namespace is not allowed. */
export function secretRefOf({ secret }: ClusterRecord, { namespace, allowed }: SecretPolicy) {
  const ref = { namespace: secret.namespace ?? namespace, name: secret.name };
  return matchesGlob(ref.namespace, allowed) ? ref : undefined;
}

/** Reads the kubeconfig of a member. `secret`: the live Secret; undefined: it does not exist. Pure. */
export function accessOf(
  record: ClusterRecord,
  policy: SecretPolicy,
  secret: KubeObject | undefined,
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
  try {
    const config = configOfKubeconfig(parseYaml(text, 'kubectl'), context);
    const digest = sha256Hex([text, context ?? '', expectedUid].join('\0'));
    return { config, digest };
  } catch (error) {
    return { reason: 'InvalidKubeconfig', message: invalidMessage(error) };
  }
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
