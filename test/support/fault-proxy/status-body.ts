import type { ProxiedRequest } from './proxied-request.ts';

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const messages: Readonly<Record<number, string>> = {
  409: 'Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again',
  410: 'too old resource version: 1 (2)',
};

/** A Status object as the API server writes it. */
export function statusBody(status: number, { resource, name }: ProxiedRequest) {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: messages[status] ?? `An injected answer of status ${status}`,
    reason: reasons[status] ?? 'Unknown',
    details: { ...(name === '' ? {} : { name }), kind: resource },
    code: status,
  };
}
