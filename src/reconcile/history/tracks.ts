import type { ReadPlan } from '../../compile/index.ts';
import { keyOf } from '../../util/kube-object.ts';
import { ObjectTrack } from './object-track.ts';
import { type RecordOwner, type RecordSubject, seriesOf } from './record.ts';

/** A resource and the objects that are recorded for it. */
export interface TrackedOwner {
  owner: RecordOwner;
  /** By read and object. */
  readonly tracks: Map<string, ObjectTrack>;
  /** Cancels the timer of the next expiry. */
  cancelExpiry: (() => void) | undefined;
}

/** All objects that a definition records. */
export class Tracks {
  readonly #definition: string;
  /** By key of the resource. */
  readonly #owners = new Map<string, TrackedOwner>();
  readonly #bySeries = new Map<string, ObjectTrack>();

  constructor(definition: string) {
    this.#definition = definition;
  }

  get owners(): Iterable<TrackedOwner> {
    return this.#owners.values();
  }

  get all(): Iterable<ObjectTrack> {
    return this.#bySeries.values();
  }

  ofSeries(series: string): ObjectTrack | undefined {
    return this.#bySeries.get(series);
  }

  ofKey(key: string): TrackedOwner | undefined {
    return this.#owners.get(key);
  }

  /** The objects of a resource. Those of an earlier resource of that key are dropped. */
  ofOwner(owner: RecordOwner): TrackedOwner {
    const known = this.#owners.get(owner.key);
    if (known?.owner.uid === owner.uid) {
      known.owner = owner;
      return known;
    }
    this.drop(owner.key);
    const tracked = { owner, tracks: new Map(), cancelExpiry: undefined };
    this.#owners.set(owner.key, tracked);
    return tracked;
  }

  /** The track of an object, which may be new. */
  of(
    { owner, tracks }: TrackedOwner,
    read: ReadPlan,
    { namespace, name }: Pick<RecordSubject, 'name'> & { readonly namespace?: string | undefined },
  ): ObjectTrack {
    const id = idOf(read.id, namespace, name);
    let track = tracks.get(id);
    if (track === undefined) {
      const subject = { ownerUid: owner.uid, readId: read.id, namespace, name };
      const series = seriesOf(this.#definition, subject);
      track = new ObjectTrack(owner, { read, subject, series });
      tracks.set(id, track);
      this.#bySeries.set(series, track);
    }
    track.owner = owner;
    return track;
  }

  /** Nothing is recorded of the object, and nothing waits. */
  remove({ tracks }: TrackedOwner, { subject, series }: ObjectTrack): void {
    tracks.delete(idOf(subject.readId, subject.namespace, subject.name));
    this.#bySeries.delete(series);
  }

  /** Drops a resource with all that waits. Returns its tracks: a write of them may be in flight. */
  drop(key: string): readonly ObjectTrack[] {
    const tracked = this.#owners.get(key);
    this.#owners.delete(key);
    tracked?.cancelExpiry?.();
    const tracks = [...(tracked?.tracks.values() ?? [])];
    for (const track of tracks) {
      this.#bySeries.delete(track.series);
      track.isDropped = true;
      track.clear();
    }
    return tracks;
  }

  dropAll(): void {
    for (const key of [...this.#owners.keys()]) this.drop(key);
  }
}

function idOf(readId: string, namespace: string | undefined, name: string): string {
  return `${readId} ${keyOf(namespace, name)}`;
}
