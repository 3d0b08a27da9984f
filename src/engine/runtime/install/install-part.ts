import { standardStatusSchemas } from '#definition';
import { truncated } from '../error-message.ts';
import { notReady, type ViewPart } from '../view-part.ts';

/** What a definition shows of its own objects. `status.install` has a writer of its own. */
export const installPart: ViewPart = {
  statusSchema: {
    install: {
      type: 'object',
      description:
        'The objects of the definition itself, as the status of a resource has its children.',
      properties: standardStatusSchemas,
    },
  },
  blocks({ install }) {
    if (install === undefined) return undefined;
    const { reason, message, isStuck } = install;
    return notReady(reason, truncated(message), isStuck ? 'stuck' : 'moves');
  },
};
