import { approveDeletionsAnnotation, pausedAnnotation } from '../../reconcile/index.ts';
import type { KnownDefinition } from '../registry/known-definition.ts';

/** What a user asks for in the metadata of a definition, of its object or of its text. */
export function marksIn(
  annotations: Readonly<Record<string, unknown>> | undefined,
): Pick<KnownDefinition, 'approvedDeletions' | 'isPaused'> {
  const approved = annotations?.[approveDeletionsAnnotation];
  const isPaused = annotations?.[pausedAnnotation] === 'true';
  return {
    ...(isPaused ? { isPaused } : {}),
    ...(typeof approved === 'string' && approved !== '' ? { approvedDeletions: approved } : {}),
  };
}
