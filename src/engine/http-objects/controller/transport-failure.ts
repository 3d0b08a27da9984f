import type { HttpTransportError, HttpTransportErrorCode } from '#kube/roles.ts';
import type { Failure, FailureClass } from '../core/answer.ts';

const classes: Readonly<Record<HttpTransportErrorCode, FailureClass>> = {
  unreachable: 'soon',
  'connection-lost': 'soon',
  timeout: 'soon',
  'answer-too-large': 'later',
  'answer-encoded': 'later',
  'certificate-rejected': 'later',
  'token-rejected': 'later',
  'account-missing': 'later',
  'address-not-allowed': 'change',
  aborted: 'soon',
};

const reasons: Readonly<Record<HttpTransportErrorCode, string>> = {
  unreachable: 'Unreachable',
  'connection-lost': 'ConnectionLost',
  timeout: 'Timeout',
  'answer-too-large': 'AnswerTooLarge',
  'answer-encoded': 'AnswerEncoded',
  'certificate-rejected': 'CertificateRejected',
  'token-rejected': 'TokenUnavailable',
  'account-missing': 'AccountMissing',
  'address-not-allowed': 'NotAllowed',
  aborted: 'Aborted',
};

/** The failure that a request without an answer is. Pure. */
export function transportFailure({ code, message, mayHaveArrived }: HttpTransportError): Failure {
  const isGone = code === 'account-missing';
  return {
    ...{ class: classes[code], reason: reasons[code], message, mayHaveArrived },
    ...(isGone && { isGone }),
  };
}
