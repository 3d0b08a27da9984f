import type { KubeObject } from '../../util/kube-object.ts';
import { KubeError } from '../kube-error.ts';
import type { EditableMetadata, EditOptions, MetadataPatch, StoredObject } from '../roles.ts';

/** How often an edit follows an object that others change at the same time. */
const maxTries = 5;

/** What an edit sends. */
export interface EditRequests {
  /** The object as the server has it; undefined for 404. */
  read(): Promise<KubeObject | undefined>;
  /** A JSON merge patch of the main resource. */
  patch(metadata: MetadataPatch): Promise<StoredObject>;
}

/** Edits the metadata of one very object, whatever others do to it meanwhile; see {@link Writer.editMetadata}. */
export async function editMetadata(
  requests: EditRequests,
  { uid, from, change }: Pick<EditOptions, 'uid' | 'from' | 'change'>,
): Promise<StoredObject | undefined> {
  let current: KubeObject | undefined = from ?? (await requests.read());
  for (let tries = 1; ; tries++) {
    if (current === undefined || current.metadata.uid !== uid) return undefined;
    const metadata: EditableMetadata = current.metadata;
    const patch = change(metadata);
    if (patch === undefined) return undefined;
    const { resourceVersion } = metadata;
    try {
      // With the version nothing is lost that others have put into the same lists.
      return await requests.patch({
        ...patch,
        uid,
        ...(resourceVersion && { resourceVersion }),
      });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.code === 'not-found' || error.code === 'uid-mismatch') return undefined;
      if (error.code !== 'conflict' || tries === maxTries) throw error;
    }
    current = await requests.read();
  }
}
