import { expect } from 'chai';
import { ContextRoles } from '../../../../api/rbac/context-roles.js';
import { RbacStore } from '../../../../api/rbac/rbac-store.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { TemporaryHome } from '../../../support/temporary-home.js';

describe('roles of a context', () => {
  it('come without the role of a rule that cannot be read, and that is said', async () => {
    const home = new TemporaryHome();
    const user = { id: 1, name: 'admin', allowRunAs: true, passwordHash: 'x', roles: [1] };
    const store = await RbacStore.open(home.path('rbac'), () => Promise.resolve([user]));
    try {
      await store.commit([
        store.rules.put({ id: 100, name: 'of another version', rule: { XOR: [] } }),
        store.rules.put({ id: 101, name: 'good', rule: { MATCH: { a: 1 } } }),
        store.roles.put({ id: 100, name: 'broken', policies: [], rules: [100] }),
        store.roles.put({ id: 101, name: 'fine', policies: [], rules: [101] }),
      ]);
      const logger = new RecordingLogger();
      expect(new ContextRoles(store, logger).of(100, { a: 1 })).to.deep.equal([101]);
      expect(logger.lines.join()).to.match(/Roles left out of a login with a context: 'broken' \('XOR' is neither/);
    } finally {
      await store.close();
      home.remove();
    }
  });
});
