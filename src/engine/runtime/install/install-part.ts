import { standardStatusSchemas } from '#definition';
import type { OwnPart } from '#util/stored-names.ts';
import { truncated } from '../error-message.ts';
import { notReady, type ViewPart } from '../view-part.ts';

/** What a definition shows of its own objects. `status.install` has a writer of its own. */
export const installPart: ViewPart = ownPart(
  'install',
  'The objects of the definition itself, as the status of a resource has its children.',
);

/** What a definition shows of its policies; `status.admission` is written as `status.install` is. */
export const admissionPart: ViewPart = ownPart(
  'admission',
  'The policies of the definition, as the status of a resource has its children.',
);

function ownPart(part: OwnPart, description: string): ViewPart {
  return {
    statusSchema: { [part]: { type: 'object', description, properties: standardStatusSchemas } },
    blocks({ [part]: view }) {
      if (view === undefined) return undefined;
      const { reason, message, isStuck } = view;
      return notReady(reason, truncated(message), isStuck ? 'stuck' : 'moves');
    },
  };
}
