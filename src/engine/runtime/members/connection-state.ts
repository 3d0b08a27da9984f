import { type KubeCluster, KubeError, type ServerNote } from '#kube';
import { rightText } from '#reconcile';
import { errorMessage } from '../error-message.ts';

/** Reasons of the condition `Connected` with status `False`. */
type ConnectionFailureReason =
  | 'Unreachable'
  | 'Unauthorized'
  | 'Untrusted'
  | 'ServerNotAllowed'
  | 'SecretMissing'
  | 'InvalidKubeconfig'
  | 'Forbidden'
  | 'Replaced'
  | 'Duplicate'
  | 'InvalidName'
  | 'LimitExceeded';

/** Why a member is not connected. */
export interface ConnectionFailure {
  readonly reason: ConnectionFailureReason;
  readonly message: string;
}

/** State of the connection to a member. */
export type ConnectionState =
  /** `failure`: of the last attempt, that is not reported yet. */
  | { readonly kind: 'connecting'; readonly failure?: ConnectionFailure }
  | {
      readonly kind: 'connected';
      readonly uid: string;
      readonly version: string;
      readonly cluster: KubeCluster;
      /** The server's certificate is not verified. */
      readonly isInsecure: boolean;
      /** What is unusual about its address. */
      readonly notes: readonly ServerNote[];
      /** Why its namespace `kube-system` cannot be watched. */
      readonly missingRight?: string;
      /** It sends more than is read. */
      readonly isThrottled?: boolean;
    }
  | { readonly kind: 'failed'; readonly failure: ConnectionFailure };

export const unauthorized: ConnectionFailure = {
  reason: 'Unauthorized',
  message: 'The API server does not accept the credentials',
};

/** Failures that need a change of the `Cluster` or its Secret. */
const finalReasons: ReadonlySet<ConnectionFailureReason> = new Set(['Unauthorized', 'Replaced']);

/** Whether no retry can succeed before a change. */
export function isFinal({ reason }: ConnectionFailure): boolean {
  return finalReasons.has(reason);
}

/** A failure that was found while connecting or while connected. */
export class ConnectionError extends Error {
  readonly failure: ConnectionFailure;
  constructor(failure: ConnectionFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * A response of no kind of server. The status does not say why: who may write a kubeconfig could see which ports of the network are open,
 * closed or filtered.
 */
export const cannotConnect: ConnectionFailure = {
  reason: 'Unreachable',
  message: 'Cannot connect to the API server; the log of the runtime says why',
};

/** Something else than an HTTP server has answered. */
function isNoHttp({ status, code }: KubeError): boolean {
  return status === 0 && code === 'unexpected';
}

/** Why an attempt has failed. */
export function failureOf(error: unknown): ConnectionFailure {
  if (error instanceof ConnectionError) return error.failure;
  const message = errorMessage(error);
  if (!(error instanceof KubeError)) return { reason: 'Unreachable', message };
  if (error.isServerNotAllowed) return { reason: 'ServerNotAllowed', message };
  if (error.code === 'unauthorized') return unauthorized;
  if (error.isUntrusted)
    return {
      reason: 'Untrusted',
      message: `${message}; correct "certificate-authority-data" in the kubeconfig`,
    };
  if (error.isUnreachable || isNoHttp(error)) return cannotConnect;
  if (error.code === 'too-large') return { reason: 'LimitExceeded', message };
  if (error.right !== undefined) return { reason: 'Forbidden', message: rightText(error.right) };
  return { reason: error.code === 'forbidden' ? 'Forbidden' : 'Unreachable', message };
}
