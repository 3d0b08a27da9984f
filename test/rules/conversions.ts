import type { RuleSection } from './rule.ts';

const file = 'test/integration/conversions.test.ts';
const invalid = 'test/fixtures/invalid/conversions.yaml';
const valid = 'test/fixtures/valid/conversions.yaml';

export const conversions: RuleSection = {
  heading: 'Versions of a kind that differ',
  page: 'versions.md',
  rules: [
    {
      rule: '`conversions` has a `hub` and, for other `versions`, the `version` and the `fields` that differ: objects are read and written in each of them',
      shownBy: [
        `${file} › a kind gets a second version, and returns to one, under clients of both`,
        'test/contract/cases/conversions.ts',
      ],
    },
    {
      rule: 'A field has the path `here` and the path `there`, and may have other `values` or another form (`as`: a word, or one of `itemsToObjects`, `objectsToItems`, `mapToList` and `listToMap`)',
      shownBy: [valid, invalid],
    },
    {
      rule: 'What a version cannot express is kept, unless `drop` gives it up',
      shownBy: [
        'test/contract/cases/conversions.ts › a field that a version cannot express is kept',
      ],
    },
    {
      rule: 'It needs `crd` with two or more versions, and excludes `crd.conversion` and member clusters',
      shownBy: [invalid],
    },
    {
      rule: 'A new version is served after its rules are installed, and stored after conversions have succeeded for 30 s',
      shownBy: [
        `${file} › a version whose conversions fail is not served, and the definition names the reason`,
        `${file} › a runtime that is killed at any step continues`,
      ],
    },
    {
      rule: 'A version is not stored while resources have fields that it cannot express and that do not fit into annotations: the definition names them',
      shownBy: [`${file} › a version is not stored while resources do not fit into it`],
    },
    {
      rule: 'Without a conversion webhook the definition is rejected and nothing changes',
      shownBy: [
        `${file} › without a conversion webhook the definition says so, and nothing is changed`,
      ],
    },
    {
      rule: 'The certificates of the webhook are kept current in the CRD',
      shownBy: [`${file} › certificates that are removed from the CRD are written again`],
    },
    {
      rule: 'With a version, the ownership of its fields moves to the stored version',
      shownBy: [
        `${file} › a kind gets a second version, and returns to one, under clients of both`,
        'src/engine/runtime/crd/conversion/converted-fields.test.ts',
      ],
    },
  ],
};
