import { RecordGate } from '#runtime';
import type { RecordedKinds } from '#runtime/recorded-state.ts';

interface RecordingGateOptions {
  /** Recorded before. @default none */
  readonly kinds?: RecordedKinds;
  /** Awaited before it is recorded. @default nothing */
  readonly pace?: () => Promise<void>;
  /** Called with each accepted revision that is recorded. @default nothing */
  readonly onRecorded?: (revision: string) => void;
  readonly onChange?: () => void;
}

/** A gate whose state is recorded whenever it changes. */
export function recordingGate(options: RecordingGateOptions = {}): RecordGate {
  const { kinds = { resources: [], children: [] }, pace = async () => {}, onRecorded } = options;
  let last: string | undefined;
  const gate = new RecordGate({ revisions: [], kinds, rollout: undefined }, () => {
    options.onChange?.();
    void pace().then(() => {
      gate.recorded(gate.report());
      const revision = gate.state.revisions[0]?.revision;
      if (revision !== undefined && revision !== last) onRecorded?.(revision);
      last = revision;
    });
  });
  return gate;
}
