import { render } from 'preact';
import { ApiClient } from './client/api-client.js';
import { ConsoleContext } from './client/console-context.js';
import { Notices } from './client/notices.js';
import { Session } from './client/session.js';
import { Shell } from './shell/shell.js';
import { followSystemTheme } from './shell/theme.js';

import './style/base.css';
import './style/parts.css';
import './style/shell.css';
import './style/agents.css';
import './style/alerts.css';
import './style/manager.css';
import 'uplot/dist/uPlot.min.css';

followSystemTheme();
const place = document.getElementById('console');
if (place !== null) {
  const session = new Session();
  const parts = { session, api: new ApiClient(session), notices: new Notices() };
  render(
    <ConsoleContext.Provider value={parts}>
      <Shell />
    </ConsoleContext.Provider>,
    place,
  );
}
