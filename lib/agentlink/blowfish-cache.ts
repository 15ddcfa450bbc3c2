import { Blowfish } from './blowfish.js';
import { KeyCache } from './key-cache.js';
import { MAX_BLOWFISH_SCHEDULES } from './link-limits.js';

/** The Blowfish key schedules last used: making one costs as much as opening a dozen messages. */
export class BlowfishCache extends KeyCache<Blowfish> {
  constructor(most: number = MAX_BLOWFISH_SCHEDULES) {
    super(({ blowfishKey }) => new Blowfish(blowfishKey), most);
  }
}
