process.stdout.write("udg\n")
