import { readFileSync } from 'node:fs';

/** A request as the audit log has it: all of them, unlike in `AuditLog`. */
export interface AuditedRequest {
  readonly verb: string;
  readonly apiGroup: string;
  /** Plural, with a subresource. */
  readonly resource: string;
  readonly namespace: string;
  /** Also of a list or watch of one name. */
  readonly name: string;
  readonly code: number;
  /** By RBAC, before anything else looked at the request. */
  readonly isForbidden: boolean;
  /** Of a Status. */
  readonly message: string;
  readonly uri: string;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** All requests of a user to resources, in the order of the log. A line that is still being written is left out. */
export function auditedRequests(file: string, user: string): readonly AuditedRequest[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const event: AuditEvent = JSON.parse(line);
    if (event.user.username !== user || !isAnswered(event)) return [];
    const {
      apiGroup = '',
      resource,
      subresource,
      namespace = '',
      name = '',
    } = event.objectRef ?? {};
    if (resource === undefined) return [];
    const { code = 0, message = '' } = event.responseStatus ?? {};
    return [
      {
        verb: event.verb,
        apiGroup,
        resource: subresource === undefined ? resource : `${resource}/${subresource}`,
        namespace,
        name,
        code,
        isForbidden: event.annotations?.['authorization.k8s.io/decision'] === 'forbid',
        message,
        uri: event.requestURI,
      },
    ];
  });
}

/** A watch is answered when it starts; everything else when it is complete. */
function isAnswered({ stage, verb }: AuditEvent): boolean {
  return stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete');
}
