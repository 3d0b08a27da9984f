import { HomeostatError } from '../../util/homeostat-error.ts';

/** A path outside of all that is served: answered in plain text, not with a Status. */
export class PageNotFound extends HomeostatError<'page-not-found'> {
  constructor() {
    super('page-not-found', '404 page not found');
  }
}
