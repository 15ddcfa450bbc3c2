import { expect } from 'chai';
import { SETTINGS } from '../../../../daemons/execd/execd-settings.js';
import { ResponseKit } from '../../../support/execd/response-kit.js';

describe('the settings of svc-execd', () => {
  it('are shown as agents show theirs', async () => {
    const kit = new ResponseKit();
    try {
      kit.configure(`<active-response><disabled>yes</disabled></active-response>
<active-response><disabled>no</disabled><repeated_offenders>30,60</repeated_offenders></active-response>`);
      const settings = SETTINGS.load({ name: 'svc-execd', home: kit.home, logger: kit.logger, ownFlags: {} });
      const shown = SETTINGS.sections?.(() => settings);
      expect(await shown?.get('active-response')?.()).to.deep.equal({
        'active-response': { disabled: 'yes', repeated_offenders: [30, 60] },
      });
      expect(await shown?.get('internal')?.()).to.deep.equal({
        internal: { execd: { request_timeout: 60, max_restart_lock: 600 } },
      });
    } finally {
      kit.home.remove();
    }
  });
});
