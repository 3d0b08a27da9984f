import type { ReconcileContext, ReconcileResult } from '#controller';
import { KubeError } from '#kube/roles.ts';
import type { Problem } from '../failure.ts';
import { objectText } from '../secrecy.ts';
import { aboutObject, historyProblem } from './history-problem.ts';
import type { ObjectTrack } from './object-track.ts';
import type { RecordWriter } from './record-writer.ts';
import type { RecorderPartOptions } from './recorder-options.ts';

/** Time until a write is tried again that cannot succeed as it is, in ms. */
export const permanentDelayMs = 300_000;

/** Writes the states of one object that wait, in order. */
export class SeriesWriter {
  readonly #options: RecorderPartOptions;
  readonly #writer: RecordWriter;

  constructor(options: RecorderPartOptions, writer: RecordWriter) {
    this.#options = options;
    this.#writer = writer;
  }

  /** @throws KubeError: it is tried again */
  async write(track: ObjectTrack, { signal }: ReconcileContext): Promise<ReconcileResult> {
    try {
      for (let next = track.begin(); next !== undefined; next = track.begin()) {
        const afterMs = track.delayMs(this.#options.clock.monotonicMs());
        if (afterMs > 0) return this.#throttle(track, afterMs);
        track.isThrottled = false;
        const problem = await this.#writer.write(track, next, signal);
        track.written();
        this.setProblem(track, problem && aboutObject(track, problem));
      }
      return { kind: 'done' };
    } catch (error) {
      if (error instanceof KubeError && !signal.aborted) {
        this.setProblem(track, aboutObject(track, historyProblem(error, track.read.secrecy)));
        if (error.isPermanent)
          return { kind: 'failed', afterMs: permanentDelayMs, reason: error.code };
      }
      throw error;
    }
  }

  /** Why the newest state is not recorded; a change is reported by the resource. */
  setProblem(track: ObjectTrack, problem: Problem | undefined): void {
    const hasChanged = track.problem?.message !== problem?.message;
    track.problem = problem;
    if (hasChanged) this.#options.enqueue(track.owner.key);
  }

  /** Too many states of one object: only the newest one is recorded, later. */
  #throttle(track: ObjectTrack, afterMs: number): ReconcileResult {
    track.collapse();
    if (!track.isThrottled) this.#reportThrottled(track);
    track.isThrottled = true;
    return { kind: 'done', due: { afterMs } };
  }

  #reportThrottled({ owner, ref, read }: ObjectTrack): void {
    const { cluster, definition } = this.#options;
    const what = objectText(ref.gvk.kind, ref.name, read);
    cluster.events.record({
      regarding: owner.resource,
      type: 'Warning',
      reason: 'HistoryThrottled',
      action: 'Record',
      note: `${what} changes often: one version is recorded every 10 s`,
      definition,
    });
  }
}
