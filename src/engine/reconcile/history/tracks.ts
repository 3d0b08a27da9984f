import type { ReadPlan } from '#compile';
import { groupKindKey } from '#util/gvk.ts';
import { keyOf } from '#util/kube-object.ts';
import { ObjectTrack } from './object-track.ts';
import { type RecordOwner, type RecordSubject, seriesOf } from './record.ts';
import type { RecordingRevision } from './recorder-options.ts';

/** A resource and the objects that are recorded for it. */
export interface TrackedOwner {
  owner: RecordOwner;
  /** The revision that it has. */
  revision: RecordingRevision;
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
  ofOwner(owner: RecordOwner, revision: RecordingRevision): TrackedOwner {
    const known = this.#owners.get(owner.key);
    if (known?.owner.uid === owner.uid) {
      known.owner = owner;
      if (known.revision !== revision) this.#takeOver(known, revision);
      return known;
    }
    this.drop(owner.key);
    const tracked = { owner, revision, tracks: new Map(), cancelExpiry: undefined };
    this.#owners.set(owner.key, tracked);
    return tracked;
  }

  /** The resource has another revision: what waits is recorded by its reads, unless a read keeps no versions any more. */
  #takeOver(tracked: TrackedOwner, revision: RecordingRevision): void {
    tracked.revision = revision;
    for (const track of [...tracked.tracks.values()]) {
      const read = revision.plan.reads.find(({ id }) => id === track.read.id);
      const isSame =
        read?.history !== undefined && groupKindKey(read.gvk) === groupKindKey(track.read.gvk);
      if (isSame) track.read = read;
      else {
        this.remove(tracked, track);
        drop(track);
      }
    }
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
      drop(track);
    }
    return tracks;
  }

  dropAll(): void {
    for (const key of [...this.#owners.keys()]) this.drop(key);
  }
}

/** Nothing of it is recorded any more. */
function drop(track: ObjectTrack): void {
  track.isDropped = true;
  track.clear();
}

function idOf(readId: string, namespace: string | undefined, name: string): string {
  return `${readId} ${keyOf(namespace, name)}`;
}
