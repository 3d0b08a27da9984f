/** How the answers of our own writes enter the cache. CONTRACT between kube/cache (implements) and the writer in kube/client (calls). */
import type { Gvk } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { PassToken, StoredObject } from '../roles.ts';

/** A write to one key that is in flight: while it is, the key's last DELETED event is remembered (engine.md section 3). */
export interface WriteTicket {
  /** Ingests the object of an answer, stores it in every informer that selects it and tells all subscribers (events carry `pass`). */
  store(object: KubeObject, pass: PassToken | undefined): StoredObject;
  /** A DELETE was answered: the entry with this UID is marked deleting and leaves with the event. */
  deleting(uid: string, pass: PassToken | undefined): void;
  /** The server answered 404 (or a uid mismatch proved that this UID is gone): an entry with this UID, or any when undefined, leaves at once. */
  gone(uid: string | undefined, pass: PassToken | undefined): void;
  /** The write is over, whatever came of it. Always called. */
  end(): void;
}

export interface WriteThrough {
  begin(gvk: Gvk, namespace: string | undefined, name: string): WriteTicket;
}
