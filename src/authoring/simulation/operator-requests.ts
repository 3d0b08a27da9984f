import type { ApiRequest } from '#kube';
import type { ApiAnswer } from '#sandbox';

/** Whether a write is an Event, or is about the definition or a member itself. None of them counts as a write of an operator. */
export function isInternalRequest({ path }: ApiRequest): boolean {
  return path.includes('/events.k8s.io/') || isOwnKind.test(path) || isClaim.test(path);
}

/** Kinds of Homeostat, apart from those of objects behind HTTP, which are children of resources. */
const isOwnKind = /\/apis\/homeostat\.dev\/(?!.*\/http(?:objects|endpoints)(?:\/|$))/;

/** The Lease of a definition in a member. */
const isClaim = /\/namespaces\/kube-system\/leases(?:\/homeostat-|$)/;

/** An error in place of the server's answer. `code`: HTTP status. */
export function errorAnswer(code: number): ApiAnswer {
  const message = `The simulation answers this request with ${code}`;
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code };
  return { status: code, headers: {}, body: JSON.stringify(status) };
}
