import { describe } from 'node:test';
import { condition, testReadiness } from '../../../test/support/readiness-cases.ts';

describe('util/readiness', () => {
  testReadiness('apiextensions.k8s.io/v1 CustomResourceDefinition', [
    [
      'established',
      {
        status: {
          conditions: [condition('NamesAccepted', 'True'), condition('Established', 'True')],
        },
      },
      'Ready',
      'Established',
    ],
    [
      'installing',
      { status: { conditions: [condition('Established', 'False', 'Installing')] } },
      'Progressing',
      'The kind is not established yet',
    ],
    [
      'names taken',
      { status: { conditions: [condition('NamesAccepted', 'False', 'ListKindConflict')] } },
      'Failed',
      'NamesAccepted is False (ListKindConflict)',
    ],
    [
      'not to be established',
      { status: { conditions: [condition('Established', 'False', 'NotAccepted')] } },
      'Failed',
      'Established is False (NotAccepted)',
    ],
    ['new', {}, 'Progressing', 'The kind is not established yet'],
  ]);

  testReadiness('apiregistration.k8s.io/v1 APIService', [
    [
      'available',
      { status: { conditions: [condition('Available', 'True')] } },
      'Ready',
      'Available',
    ],
    [
      'not available',
      { status: { conditions: [condition('Available', 'False', 'MissingEndpoints')] } },
      'Progressing',
      'Available is False (MissingEndpoints)',
    ],
    ['new', {}, 'Progressing', 'The condition Available is not set yet'],
  ]);
});
