import { HomeostatError } from '#util/homeostat-error.ts';
import { isJsonObject } from '#util/json.ts';
import type { BackendErrorCode, KubeResponse } from './contract.ts';

/** A failed question to the backend, with a message for people. */
export class BackendError extends HomeostatError<BackendErrorCode> {}

/** The code of any error. */
export function errorCodeOf(error: unknown): BackendErrorCode {
  return error instanceof BackendError ? error.code : 'failed';
}

/** An error that the server of the console has sent. @param otherwise the message if it sent none */
export function errorOfConsole(sent: unknown, otherwise: string): BackendError {
  if (!isJsonObject(sent)) return new BackendError('failed', otherwise);
  const { code, message } = sent;
  const text = typeof message === 'string' ? message : otherwise;
  return new BackendError(String(code) as BackendErrorCode, text);
}

/** The error of a response of the Kubernetes API; undefined for success. */
export function errorOfResponse({ status, body }: KubeResponse): BackendError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const message =
    isJsonObject(body) && typeof body.message === 'string'
      ? body.message
      : `The API server responded with status ${status}`;
  return new BackendError(codeOf(status), message);
}

function codeOf(status: number): BackendErrorCode {
  switch (status) {
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'not-found';
    case 410:
      return 'gone';
    default:
      return 'failed';
  }
}
