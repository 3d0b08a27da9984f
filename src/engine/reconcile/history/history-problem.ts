import type { KubeError } from '#kube/roles.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { objectText, publicContent } from '../secrecy.ts';
import type { ObjectTrack } from './object-track.ts';

/** An error of a request, which the queue retries: the resource only reports it. */
export function historyProblem(error: KubeError, secrecy = publicContent.secrecy): Problem {
  const { reason, message, code, right } = problemOfRequest(error, { about: { secrecy } });
  return { reason, message, code, kind: 'waiting', ...(right && { right }) };
}

/** The problem of one object that is recorded. */
export function aboutObject({ ref, read }: ObjectTrack, problem: Problem): Problem {
  const what = objectText(ref.gvk.kind, ref.name, read);
  return { ...problem, message: `history of ${what}: ${problem.message}` };
}
