"""A headless Chromium that tests and the laboratory drive over the DevTools protocol, with no flags but our own.

``dev.browser.browser.running()`` starts one; each of its pages has a profile of its own::

    with running() as chromium, chromium.page(width=420, dark=True) as page:
        page.before_load("window.ethereum = …")  # runs in every document before its own scripts
        page.disable_cache(), page.disable_scripts()  # where a test is about that
        page.goto("http://127.0.0.1:8000/docs/")  # returns after the load event
        page.wait("document.querySelector('h1')")  # until this is true
        page.click("button[data-open-modal]")
        page.type("permit2")  # where the focus is
        page.press("Enter")
        page.evaluate("document.title")  # a value as JSON, awaited if it is a promise
        page.screenshot(Path("page.png"))
        page.bytes_received, page.largest_paint_ms()  # of the last ``goto``
        assert page.faults() == []  # errors in the console, exceptions, violations of policies, failed requests

What does not happen within ``SECONDS`` raises WaitTimeoutError.
"""
