"""The mechanism that runs one job's process. It knows no policy, no store and no git.

    environment.py   what a job is given            job_environment, marker_ids, is_reserved
    spawn.py         starting it                    start, shell_command
    job.py           while it runs                  RunningJob: fileno, deadline, tick, cancel
    slots.py         what there is only so much of  take, give_back, holders
    outcome.py       how it ended                   JobResult, Survivor, Graces
    reap.py          what is left of a whole run    survivors, kill_run
    output.py        what it wrote                  tail, compact
    reproduce.py     running it again by hand       reproduce

(`executable`, `process`, `ladder`, `awake`, `sweep` and `wake` are what these are made of.)

The loop belongs to the caller, and so does the clock. A job is registered once, under
itself, and asked at every turn:

    job = start(
        ["pytest", "-q"],
        cwd=checkout,
        environment=job_environment(os.environ, run_ids=[run], job="test", checkout_id=short),
        output=f"{run_folder}/test.log",
        now=clock(),
        timeout=600.0,
        pass_fds=[checkout_lock],
    )
    if isinstance(job, RunningJob):          # else it is the result: not_found, and why
        selector.register(job, selectors.EVENT_READ)
        while (result := job.tick(clock())) is None:
            selector.select(job.deadline(clock()) - clock())
        selector.unregister(job)

With several jobs the wait is until the least of their deadlines, and every job is ticked
after every wait: a tick without news costs one system call. `job.cancel(now)` may be called
at any time, and the job is ticked on until it returns its result. A loop that stops early
calls `job.close()`, which leaves the processes to `kill_run`.

Nothing here blocks, except `kill_run`, for a few seconds at most.
"""
