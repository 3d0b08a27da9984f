import { HistoryRecorder } from './history-recorder.ts';
import type { HistoryRecorderOptions, RecordingRevision } from './recorder-options.ts';
import type { RevisionHistory } from './revision-history.ts';

/**
 * The recorder of a definition, shared by its active revisions: what one has seen and not recorded yet is recorded whichever the resource has
 * next. It exists while a revision keeps versions.
 */
export class SharedHistory {
  #recorder: HistoryRecorder | undefined;

  /** The versions as a revision sees them. `options`: used by the first revision. */
  attach(options: HistoryRecorderOptions, revision: RecordingRevision): RevisionHistory {
    if (this.#recorder === undefined || this.#recorder.isStopped)
      this.#recorder = new HistoryRecorder(options);
    return this.#recorder.attach(revision);
  }
}
