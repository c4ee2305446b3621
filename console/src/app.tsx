import { QueryClientProvider } from '@tanstack/react-query';
import { Component, type ReactNode, Suspense, useEffect } from 'react';
import { Redirect, Route, Router, Switch } from 'wouter';
import { queryClient } from './api/queries.ts';
import { find, session } from './api/session.ts';
import { useStore } from './api/store.ts';
import { LoginPage, useSignInByLink } from './pages/login.tsx';
import { usePages } from './shell/pages.ts';
import { program } from './shell/program.ts';
import { Shell } from './shell/shell.tsx';
import { t } from './texts/index.ts';
import { NothingHere } from './ui/nothing.tsx';
import { Button, Empty, Failure, Toasts } from './ui/ui.tsx';

const TasksPage = program(() => import('./pages/tasks/tasks-page.tsx'));
const NewTaskPage = program(() => import('./pages/new-task/new-task-page.tsx'));
const TaskPage = program(() => import('./pages/task/task-page.tsx'));
const AgentsPage = program(() => import('./pages/agents/agents-page.tsx'));
const AutomationsPage = program(() => import('./pages/automations/automations-page.tsx'));
const IntegrationsPage = program(() => import('./pages/integrations/integrations-page.tsx'));
const WebhooksPage = program(() => import('./pages/webhooks/webhooks-page.tsx'));
const UsagePage = program(() => import('./pages/usage/usage-page.tsx'));
const ProjectsPage = program(() => import('./pages/projects/projects-page.tsx'));
const DevicePage = program(() => import('./pages/device/device-page.tsx'));
const SettingsPage = program(() => import('./pages/settings/settings-page.tsx'));

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <Boundary>
          <SignedIn />
        </Boundary>
      </Router>
      <Toasts />
    </QueryClientProvider>
  );
}

function SignedIn() {
  const state = useStore(session);
  const link = useSignInByLink();
  switch (state.is) {
    case 'unknown':
      return null;
    case 'failed':
      return (
        <Empty icon="Wifi" title={t.login.failed}>
          <Failure error={state.error} retry={() => void find()} />
        </Empty>
      );
    case 'out':
      return <LoginPage ended={state.ended} linkError={link.error} />;
    case 'in':
      // Anew for another person: nothing of what was kept is shown to them.
      return (
        <Shell key={state.context.credential.id}>
          <Pages />
        </Shell>
      );
  }
}

function Pages() {
  const [first] = usePages();
  return (
    <Suspense fallback={null}>
      <Switch>
        <Route path="/">
          <Redirect to={`/${first?.name ?? 'settings'}`} replace />
        </Route>
        <Route path="/tasks" component={TasksPage} />
        <Route path="/new" component={NewTaskPage} />
        <Route path="/tasks/:taskId/:tab?">
          {({ taskId, tab = 'folder' }) => (tab === 'folder' ? <TaskPage key={taskId} taskId={taskId} /> : <Unknown />)}
        </Route>
        <Route path="/agents/*?" component={AgentsPage} />
        <Route path="/automations/*?" component={AutomationsPage} />
        <Route path="/integrations/*?" component={IntegrationsPage} />
        <Route path="/webhooks/*?" component={WebhooksPage} />
        <Route path="/usage" component={UsagePage} />
        <Route path="/projects/*?" component={ProjectsPage} />
        <Route path="/device" component={DevicePage} />
        <Route path="/settings" component={SettingsPage} />
        <Route>
          <Unknown />
        </Route>
      </Switch>
    </Suspense>
  );
}

function Unknown() {
  useEffect(() => {
    document.title = t.common.product;
  }, []);
  return <NothingHere />;
}

/** A fault of a page is said on the page. A part of the page that is gone after an update is loaded by loading the page anew. */
class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    const reload = (
      <Button look="primary" onClick={() => location.reload()}>
        {t.common.fault.reload}
      </Button>
    );
    return (
      <Empty icon="Alert" title={t.common.fault.title} actions={reload}>
        {this.state.error.message}
      </Empty>
    );
  }
}
